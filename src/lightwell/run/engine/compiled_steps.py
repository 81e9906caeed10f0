"""`CompiledSteps`: issues calls of compiled steps. One call reads batches, then others run them, by batch length.

Batches that were read have left the pipeline, so all of them are run: compiled where there is a computation for them or
it is worth compiling one, else op by op, with the same results.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.run.cluster import LOST_SESSION
from lightwell.run.engine.compiled_shapes import Sizes
from lightwell.run.engine.preparation import PreparedRun
from lightwell.run.engine.step_outputs import CallResult, StepOutputs
from lightwell.run.failures.uncompiled import why_xla_refused
from lightwell.run.inputs.arrays import aligned
from lightwell.run.loops.compilable import warn_once
from lightwell.run.loops.compiled import CompiledLoop, FunctionOutputs
from lightwell.run.loops.loop import Loop, LoopOutputs


@dataclass(frozen=True, eq=False)
class _Stack:
    """Batches of the same lengths that followed each other, stacked, tensor by tensor."""

    sizes: Sizes
    steps: int
    values: list[Any]


@dataclass(frozen=True, eq=False)
class _ReadBatches:
    """Batches that were read in one call, and the error that ended it early."""

    stacks: list[_Stack]
    failure: tf.errors.OpError | None


class CompiledSteps:
    """Issues compiled steps of one run.

    Args:
        ready: the prepared run.
        compiled: the compiled loop.
        loop: the loop that it is a variant of.
    """

    def __init__(self, ready: PreparedRun, compiled: CompiledLoop, loop: Loop) -> None:
        self._ready, self._compiled, self._loop, self._shapes = ready, compiled, loop, ready.opened.compiled_shapes
        self._rooms: dict[Sizes, list[Any]] = {}
        self._called: set[Any] = set()
        self._prepares = False

    def limit_steps(self, most: int, left: float) -> int:
        """Of at most `most` steps in a call, how many to run by `many`; 0 for none of them."""
        if most < 2 or not self._shapes.is_worthwhile(left):
            return 0
        return self._shapes.limit_steps(most)

    def many(self, steps: int) -> CallResult:
        """Reads `steps` batches, or as many as there are, and runs them, up to a NaN."""
        self._prepares = False
        parts: list[CallResult] = []
        for read in self._read_all(steps):
            for stack in read.stacks:
                # A remainder is not worth a computation of its own.
                parts.append(self._run_stack(stack, may_be_new=2 * stack.steps >= min(steps, self._shapes.room)))
                if parts[-1].failure is not None or parts[-1].steps < stack.steps:
                    return self._merge(parts, parts[-1].failure)
            if read.failure is not None:
                return self._merge(parts, read.failure)
        return self._merge(parts, None)

    def record_duration(self, result: CallResult, seconds: float) -> None:
        """Records the duration of a call, of these or of other steps."""
        self._shapes.record_duration(result.is_compiled, result.steps, seconds)

    def _read_all(self, steps: int) -> Iterator[_ReadBatches]:
        """Reads batches, as many at a time as a computation has room for; the next ones while the caller runs these.

        That changes no result: what is read depends on no variable. The caller takes all, or ends the run.
        """
        count = min(steps, self._shapes.room)
        self._begin(self._compiled.read)
        read = self._read(count)
        with ThreadPoolExecutor(1, "lightwell-batches") as reader:
            while read.failure is None and steps > count:
                steps -= count
                count = min(steps, self._shapes.room)
                following = reader.submit(self._read, count)
                yield read
                read = following.result()
            yield read

    def _read(self, steps: int) -> _ReadBatches:
        read, calls, failure = self._compiled.read, self._ready.opened.calls, None
        elements, stays = self._elements(read.running), self._ready.opened.threads.may_stay
        try:
            values = calls.run(elements, (read.most,), (np.int64(steps),), stays=stays)
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            failure = error
            values = calls.run(self._elements(read.saved))
        stacks = list(self._stacks(values[:-1:2], values[1:-1:2], int(values[-1])))
        if stacks:
            self._shapes.set_batch_bytes(sum(one[0].nbytes for one in stacks[0].values))
        return _ReadBatches(stacks, failure)

    def _elements(self, outlet: LoopOutputs) -> list[Any]:
        values = [outlet.every[tensor.name] for tensor in self._compiled.batch]
        return [*(one for each in values for one in (each.joined, each.lengths)), outlet.done]

    def _stacks(self, joined: Sequence[Any], lengths: Sequence[Any], most: int) -> Iterator[_Stack]:
        """Batches split where their lengths change; at most `most`, as those behind have failed a check."""
        count = StepOutputs(joined, lengths, most).steps
        has_length = [tensor.shape.rank > 0 for tensor in self._compiled.batch]
        of_each = [own[:count].tolist() if has else [1] * count for own, has in zip(lengths, has_length, strict=True)]
        starts = [0] * len(joined)
        for sizes, group in itertools.groupby(zip(*of_each, strict=True)):
            steps = len(list(group))
            ends = [start + steps * size for start, size in zip(starts, sizes, strict=True)]
            cut = [values[start:end] for values, start, end in zip(joined, starts, ends, strict=True)]
            stacked = [
                values.reshape(steps, size, *values.shape[1:]) if has else values
                for values, size, has in zip(cut, sizes, has_length, strict=True)
            ]
            yield _Stack(sizes, steps, stacked)
            starts = ends

    def _run_stack(self, stack: _Stack, may_be_new: bool) -> CallResult:
        """Runs the steps of a stack, in a new computation if there is none for them."""
        if self._shapes.may_be_used(stack.sizes, stack.steps, may_be_new):
            values = self._with_room(stack)
            if self._shapes.has(stack.sizes) or self._compile(stack.sizes, values):
                return self._part(self._call(self._compiled.by_xla, values, stack.steps))
        return self._run_by_executor(stack)

    def _with_room(self, stack: _Stack) -> list[Any]:
        """The values of a stack, with room for as many batches as its computation has; behind those anything."""
        room = self._shapes.room
        if stack.steps == room:
            return stack.values
        if stack.sizes not in self._rooms:
            self._rooms[stack.sizes] = [aligned((room, *own.shape[1:]), own.dtype) for own in stack.values]
        for wide, own in zip(self._rooms[stack.sizes], stack.values, strict=True):
            wide[: stack.steps] = own
        return self._rooms[stack.sizes]

    def _compile(self, sizes: Sizes, values: Sequence[Any]) -> bool:
        """Compiles a computation, by a call without a step; returns whether XLA can."""
        started, self._prepares = time.perf_counter(), True
        try:
            self._call(self._compiled.by_xla, values, 0)
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            self._shapes.is_off = True
            warn_once(
                f"steps are not compiled: {why_xla_refused(error, self._ready.opened.program)}.",
                self._shapes.jit_compile,
            )
            return False
        seconds = time.perf_counter() - started
        logger.info("Compiled up to %d steps into one computation (%.1f sec).", self._shapes.room, seconds)
        self._shapes.add(sizes)
        return True

    def _run_by_executor(self, stack: _Stack) -> CallResult:
        self._begin(self._compiled.by_executor)
        try:
            part = self._part(self._call(self._compiled.by_executor, stack.values, stack.steps))
            self._shapes.add_checked(stack.sizes)
            return part
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            saved = self._loop.saved
            done, *carried = self._ready.opened.calls.run([saved.done, *self._carried(saved.carried)])
            failure, done = error, int(done)
        if not self._ready.output_fetches.elements:
            return CallResult(done, carried, StepOutputs((), ()), failure=failure)
        # Steps with outputs change nothing, and can be run again.
        part = self._part(self._call(self._compiled.by_executor, stack.values, done))
        return dataclasses.replace(part, failure=failure)

    def _begin(self, kind: Any) -> None:
        """Records the kind of a session call: the session prepares with the first of each."""
        self._prepares = self._prepares or kind not in self._called
        self._called.add(kind)

    def _call(self, passed: FunctionOutputs, stacked: Sequence[Any], steps: int) -> Sequence[Any]:
        elements = self._ready.output_fetches.elements
        fetches = [passed.done, *self._carried(passed.carried), *(passed.every[one.name] for one in elements)]
        fed = (*self._compiled.stacked, self._compiled.steps)
        return self._ready.opened.calls.run(fetches, fed, (*stacked, np.int64(steps)))

    def _carried(self, by_name: dict[str, Any]) -> list[Any]:
        return [by_name[tensor.name] for tensor in self._ready.carried]

    def _part(self, values: Sequence[Any]) -> CallResult:
        done, *rest = values
        own = len(self._ready.carried)
        joined: list[Any] = []
        lengths: list[Any] = []
        for stacked in rest[own:]:
            stacked = stacked[:done]
            is_joined = stacked.ndim > 1
            joined.append(stacked.reshape(-1, *stacked.shape[2:]) if is_joined else stacked)
            lengths.append(np.full(done if is_joined else 0, stacked.shape[1] if is_joined else 0, np.int64))
        return CallResult(int(done), rest[:own], StepOutputs(joined, lengths, int(done)))

    def _merge(self, parts: Sequence[CallResult], failure: tf.errors.OpError | None) -> CallResult:
        done = sum(part.steps for part in parts)
        carried = next((part.carried for part in reversed(parts) if part.steps), ())
        together = (
            zip(*(part.outputs.joined() for part in parts), strict=True),
            zip(*(part.outputs.lengths for part in parts), strict=True),
        )
        joined, lengths = ([np.concatenate(one) for one in columns] for columns in together)
        outputs = StepOutputs(joined, lengths, done)
        return CallResult(done, carried, outputs, (), failure, outputs.bytes, True, self._prepares)
