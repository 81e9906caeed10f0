"""`CompiledSteps`: issues calls of compiled steps. Batches are taken in first, then gone over, those of one length
together.

What is taken in has left the pipeline, and so is always gone over: compiled where there is a form for it or it is worth
making one, else op by op, with the same results.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.cluster import LOST_SESSION
from lightwell.engine.forms import Sizes
from lightwell.engine.kept import Kept, Ran
from lightwell.engine.ready import Ready
from lightwell.failures.uncompiled import why_xla_refused
from lightwell.inputs.arrays import aligned
from lightwell.log import logger
from lightwell.loops.compilable import tell_once
from lightwell.loops.compiled import Compiled, Passed
from lightwell.loops.loop import Loop, Outlet


@dataclass(frozen=True, eq=False)
class _Stack:
    """Batches of the same lengths that followed each other, stacked, tensor by tensor."""

    sizes: Sizes
    steps: int
    values: list[Any]


@dataclass(frozen=True, eq=False)
class _Taken:
    """Batches that were taken in together, and what ended it before there were as many as wanted."""

    stacks: list[_Stack]
    failure: tf.errors.OpError | None


class CompiledSteps:
    """Issues compiled steps of one run.

    Args:
        ready: what was made ready.
        compiled: the compiled loop.
        loop: the loop that it is a variant of.
    """

    def __init__(self, ready: Ready, compiled: Compiled, loop: Loop) -> None:
        self._ready, self._compiled, self._loop, self._forms = ready, compiled, loop, ready.opened.forms
        self._rooms: dict[Sizes, list[Any]] = {}
        self._begun: set[Any] = set()
        self._prepares = False

    def steps_of(self, most: int, left: float) -> int:
        """Of the steps that a call might have, how many to do by `many`; 0 for none of them."""
        if most < 2 or not self._forms.is_wanted(left):
            return 0
        return self._forms.steps_of(most)

    def many(self, steps: int) -> Ran:
        """Takes in so many batches, or as many as there are, and goes over them, up to a NaN."""
        self._prepares = False
        parts: list[Ran] = []
        for taken in self._all_taken(steps):
            for stack in taken.stacks:
                # A form is not worth making for what is left over.
                parts.append(self._go_over(stack, may_be_new=2 * stack.steps >= min(steps, self._forms.room)))
                if parts[-1].failure is not None or parts[-1].steps < stack.steps:
                    return self._ran(parts, parts[-1].failure)
            if taken.failure is not None:
                return self._ran(parts, taken.failure)
        return self._ran(parts, None)

    def took(self, ran: Ran, seconds: float) -> None:
        """Takes in how long a call took, of these or of other steps."""
        self._forms.took(ran.is_compiled, ran.steps, seconds)

    def _all_taken(self, steps: int) -> Iterator[_Taken]:
        """Takes batches in, as many at a time as a form has room for."""
        while steps:
            count = min(steps, self._forms.room)
            taken = self._take(count)
            yield taken
            steps -= count if taken.failure is None else steps

    def _take(self, steps: int) -> _Taken:
        read, calls, failure = self._compiled.read, self._ready.opened.calls, None
        asked, stays = self._asked(read.running), self._ready.opened.threads.may_stay
        self._begin(read)
        try:
            values = calls.run(asked, (read.most,), (np.int64(steps),), stays=stays)
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            failure = error
            values = calls.run(self._asked(read.saved))
        stacks = list(self._stacks(values[:-1:2], values[1:-1:2], int(values[-1])))
        if stacks:
            self._forms.sized(sum(one[0].nbytes for one in stacks[0].values))
        return _Taken(stacks, failure)

    def _asked(self, outlet: Outlet) -> list[Any]:
        kept = [outlet.every[tensor.name] for tensor in self._compiled.batch]
        return [*(one for each in kept for one in (each.joined, each.lengths)), outlet.done]

    def _stacks(self, joined: Sequence[Any], lengths: Sequence[Any], most: int) -> Iterator[_Stack]:
        """Batches cut apart where their lengths change; at most so many, as those behind have failed a check."""
        count = Kept(joined, lengths, most).steps
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

    def _go_over(self, stack: _Stack, may_be_new: bool) -> Ran:
        """Does the steps of a stack, in a new form if there is none for them."""
        if self._forms.may_be_used(stack.sizes, stack.steps, may_be_new):
            values = self._with_room(stack)
            if self._forms.has(stack.sizes) or self._make(stack.sizes, values):
                return self._part(self._call(self._compiled.by_xla, values, stack.steps))
        return self._by_executor(stack)

    def _with_room(self, stack: _Stack) -> list[Any]:
        """The values of a stack, with room for as many batches as its form has; behind those anything."""
        room = self._forms.room
        if stack.steps == room:
            return stack.values
        if stack.sizes not in self._rooms:
            self._rooms[stack.sizes] = [aligned((room, *own.shape[1:]), own.dtype) for own in stack.values]
        for wide, own in zip(self._rooms[stack.sizes], stack.values, strict=True):
            wide[: stack.steps] = own
        return self._rooms[stack.sizes]

    def _make(self, sizes: Sizes, values: Sequence[Any]) -> bool:
        """Has a form compiled, by a call without a step; says whether that can be done."""
        started, self._prepares = time.perf_counter(), True
        try:
            self._call(self._compiled.by_xla, values, 0)
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            self._forms.is_off = True
            tell_once(f"steps are not compiled: {why_xla_refused(error, self._ready.opened.program)}.")
            return False
        seconds = time.perf_counter() - started
        logger.info("Compiled up to %d steps into one computation (%.1f sec).", self._forms.room, seconds)
        self._forms.made(sizes)
        return True

    def _by_executor(self, stack: _Stack) -> Ran:
        self._begin(self._compiled.by_executor)
        try:
            part = self._part(self._call(self._compiled.by_executor, stack.values, stack.steps))
            self._forms.passed(stack.sizes)
            return part
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            saved = self._loop.saved
            done, *carried = self._ready.opened.calls.run([saved.done, *self._carried(saved.carried)])
            failure, done = error, int(done)
        if not self._ready.kept.elements:
            return Ran(done, carried, Kept((), ()), failure=failure)
        # Steps of which something is kept change nothing, and can be done again.
        part = self._part(self._call(self._compiled.by_executor, stack.values, done))
        return dataclasses.replace(part, failure=failure)

    def _begin(self, what: Any) -> None:
        """Takes note of what a session call is of: the session prepares for it with the first."""
        self._prepares = self._prepares or what not in self._begun
        self._begun.add(what)

    def _call(self, passed: Passed, stacked: Sequence[Any], steps: int) -> Sequence[Any]:
        elements = self._ready.kept.elements
        fetches = [passed.done, *self._carried(passed.carried), *(passed.every[one.name] for one in elements)]
        fed = (*self._compiled.stacked, self._compiled.steps)
        return self._ready.opened.calls.run(fetches, fed, (*stacked, np.int64(steps)))

    def _carried(self, by_name: dict[str, Any]) -> list[Any]:
        return [by_name[tensor.name] for tensor in self._ready.carried]

    def _part(self, values: Sequence[Any]) -> Ran:
        done, *rest = values
        own = len(self._ready.carried)
        joined: list[Any] = []
        lengths: list[Any] = []
        for stacked in rest[own:]:
            stacked = stacked[:done]
            is_joined = stacked.ndim > 1
            joined.append(stacked.reshape(-1, *stacked.shape[2:]) if is_joined else stacked)
            lengths.append(np.full(done if is_joined else 0, stacked.shape[1] if is_joined else 0, np.int64))
        return Ran(int(done), rest[:own], Kept(joined, lengths, int(done)))

    def _ran(self, parts: Sequence[Ran], failure: tf.errors.OpError | None) -> Ran:
        done = sum(part.steps for part in parts)
        carried = next((part.carried for part in reversed(parts) if part.steps), ())
        together = (
            zip(*(part.kept.joined() for part in parts), strict=True),
            zip(*(part.kept.lengths for part in parts), strict=True),
        )
        joined, lengths = ([np.concatenate(one) for one in columns] for columns in together)
        kept = Kept(joined, lengths, done)
        return Ran(done, carried, kept, (), failure, kept.bytes, True, self._prepares)
