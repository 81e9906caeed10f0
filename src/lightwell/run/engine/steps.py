"""`Steps`: issues the steps of a run, one with the fetches of hooks, or many in a call that no hook looks at.

Takes a `PreparedRun` whose session is open; returns a `CallResult` for each call. Knows no hooks and no count.

Before its first step a run is fixed to one of two ways: all steps run in the loop, single ones too, or all run as the
model built them. The ops of a step hold state (the generators of random ops), which must advance in one place. Steps
without such state may be compiled where there are many.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import HookError
from lightwell.run.cluster import LOST_SESSION
from lightwell.run.engine.compiled_steps import CompiledSteps
from lightwell.run.engine.fetches import Fetches, structure_key
from lightwell.run.engine.preparation import PreparedRun
from lightwell.run.engine.step_outputs import CallResult, SingleStepOutputs, StepOutputs
from lightwell.run.loops.loop import Loop, LoopOutputs

_MOST_PREPARED = 64
_FAR = 2**62  # a count that no run reaches


@dataclass(frozen=True, eq=False)
class _Look:
    """The fetches of hooks for a step, and all elements that such a step fetches."""

    fetches: Fetches
    elements: list[Any]


class Steps:
    """Issues steps.

    Args:
        ready: the prepared run.
        find: resolves a name that a hook fetches.
    """

    def __init__(self, ready: PreparedRun, find: Callable[[Any, str], Any]) -> None:
        self._ready = ready
        self._loop = ready.opened.loop
        self._compiled: CompiledSteps | None = None
        if ready.opened.compiled is not None and self._loop is not None:
            self._compiled = CompiledSteps(ready, ready.opened.compiled, self._loop)
        self._find = find
        self._looks: dict[Hashable, _Look] = {}
        self._many: dict[bool, list[Any]] = {}
        self._no_metadata = tf.compat.v1.RunMetadata()  # it stays empty unless options are set

    @property
    def can_be_many(self) -> bool:
        """Whether a call may have more than one step."""
        return self._loop is not None

    def one(
        self, requests: Mapping[int, Any], feeds: Mapping[Any, Any], options: Any
    ) -> tuple[CallResult, Mapping[int, Any], Any]:
        """Runs one step; returns its result, the values for each hook, and the `RunMetadata`."""
        look, calls = self._look_for(requests), self._ready.opened.calls
        metadata = self._no_metadata
        if feeds or options is not None:
            metadata = tf.compat.v1.RunMetadata()
            values = calls.run_with_options(look.elements, self._allowed(feeds), options, metadata)
        elif self._loop is not None:  # called like many steps, so that one preparation serves both
            one_step = (self._loop.most, self._loop.until), (np.int64(1), np.int64(_FAR))
            values = calls.run(look.elements, *one_step, stays=self._ready.opened.threads.stays)
        else:
            started = time.perf_counter()
            values = calls.run(look.elements, stays=self._ready.opened.threads.stays)
            self._ready.opened.threads.record_duration(1, time.perf_counter() - started)
        carried, rest = _split(values, len(self._ready.carried))
        if self._loop is None:
            values, rest = _split(rest, len(self._ready.output_fetches.elements))
            outputs: StepOutputs = SingleStepOutputs(values)
        else:
            pairs, rest = _split(rest, 2 * len(self._ready.output_fetches.elements))
            outputs = StepOutputs(pairs[::2], pairs[1::2])
        late = calls.run(look.fetches.late) if look.fetches.late else ()
        of_hooks = rest[len(self._run_elements()) + len(self._ready.always or ()) :]
        return CallResult(1, carried, outputs), look.fetches.read(of_hooks, late), metadata

    def many(self, most: int, until: int, left: float, record: bool) -> CallResult:
        """Runs at most `most` steps, up to the count `until`, a NaN, or the end of the input.

        Args:
            most: how many steps; no more than it takes to reach `until` by the fixed stride.
            until: the count at which to return, if steps are counted.
            left: how many steps the run has left, those included; infinite if unknown.
            record: whether hooks are called for each of them afterwards.
        """
        loop, ready, calls = self._loop, self._ready, self._ready.opened.calls
        if loop is None:
            raise RuntimeError("Many steps were requested in one call, and the session has no loop.")
        if self._compiled is not None and not record:
            compiled = self._compiled.limit_steps(most, left)
            if compiled:
                return self._compiled.many(compiled)
        elements = [*ready.output_fetches.elements, *(ready.in_bulk if record else ())]
        fetches = self._fetched_of_many(record, elements, loop)
        fed, limits = (loop.most, loop.until), (np.int64(most), np.int64(min(until, _FAR)))
        failure = None
        try:
            values = calls.run(fetches, fed, limits, stays=ready.opened.threads.stays)
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            failure = error  # the steps before the one that failed have happened
            saved = [*_loop_elements(loop.saved, ready.carried, elements), loop.saved.done]
            values = calls.run(saved, stays=ready.opened.threads.may_stay)
        return self._result(values[: 1 + len(ready.carried) + 2 * len(elements)], elements, failure)

    def recorded(self, requests: Mapping[int, Any], values: Mapping[str, Any]) -> Mapping[int, Any]:
        """The values for each hook of a step in a call of many, from its recorded values."""
        fetches = self._look_for(requests).fetches
        return fetches.read([values[element.name] for element in fetches.elements])

    def record_duration(self, result: CallResult, seconds: float) -> None:
        """Records the duration of a call of many steps."""
        if self._compiled is not None:
            self._compiled.record_duration(result, seconds)
        if not result.is_compiled:
            self._ready.opened.threads.record_duration(result.steps, seconds)

    def _fetched_of_many(self, record: bool, elements: Sequence[Any], loop: Loop) -> list[Any]:
        """The elements that a call of many steps fetches; cached for each of the two kinds."""
        if record not in self._many:
            outputs = _loop_elements(loop.running, self._ready.carried, elements)
            self._many[record] = [*outputs, loop.running.done, *loop.as_written(elements)]
        return self._many[record]

    def _result(self, values: Sequence[Any], elements: Sequence[Any], failure: tf.errors.OpError | None) -> CallResult:
        carried, rest = _split(values, len(self._ready.carried))
        joined, lengths, done = rest[:-1:2], rest[1:-1:2], int(rest[-1])
        if not self._ready.run and elements:  # a step counts once all its outputs are there
            done = StepOutputs(joined, lengths).steps
        own = len(self._ready.output_fetches.elements)
        rows: list[Mapping[str, Any]] = []
        both = StepOutputs(joined, lengths, done)
        if len(elements) > own:
            names = [element.name for element in elements]
            rows = [dict(zip(names, both.of_step(step), strict=True)) for step in range(both.steps)]
        return CallResult(done, carried, StepOutputs(joined[:own], lengths[:own], done), rows, failure, both.bytes)

    def _look_for(self, requests: Mapping[int, Any]) -> _Look:
        """The fetches of a step that hooks look at; cached for each set."""
        key = structure_key(requests)
        look = self._looks.get(key)
        if look is None:
            fetches = Fetches(self._ready.graph, requests, self._find)
            of_hooks = [one if self._loop is None else self._loop.of_last_step(one) for one in fetches.elements]
            as_written = []
            if self._loop is not None:
                as_written = self._loop.as_written([*self._ready.output_fetches.elements, *fetches.elements])
            look = _Look(fetches, [*self._each_step(), *(self._ready.always or ()), *of_hooks, *as_written])
            if len(self._looks) >= _MOST_PREPARED:  # a hook may fetch something new in each step
                return look
            self._looks[key] = look
        return look

    def _each_step(self) -> list[Any]:
        """The elements that every step fetches: carried numbers, outputs, and the ops to run."""
        ready = self._ready
        if self._loop is None:
            return [*ready.carried, *ready.output_fetches.elements, *self._run_elements()]
        return [
            *_loop_elements(self._loop.running, ready.carried, ready.output_fetches.elements),
            *self._run_elements(),
        ]

    def _run_elements(self) -> list[Any]:
        return self._ready.run if self._loop is None else [self._loop.running.done]

    def _allowed(self, feeds: Mapping[Any, Any]) -> dict[Any, Any]:
        for key in feeds:
            name = getattr(key, "name", key)
            if self._loop is not None and name not in self._loop.feedable:
                raise HookError(
                    f"A scheduled hook feeds {name!r}. Steps are fused, and only placeholders can be fed; derive the "
                    "hook from tf.compat.v1.train.SessionRunHook to feed any tensor."
                )
        return dict(feeds)


def _split(values: Sequence[Any], width: int) -> tuple[Sequence[Any], Sequence[Any]]:
    return values[:width], values[width:]


def _loop_elements(outputs: LoopOutputs, carried: Sequence[Any], elements: Sequence[Any]) -> list[Any]:
    """The elements to fetch of a loop: carried numbers, and of each output its values and their lengths."""
    fetched = [outputs.carried[tensor.name] for tensor in carried]
    for element in elements:
        fetched += [outputs.every[element.name].joined, outputs.every[element.name].lengths]
    return fetched
