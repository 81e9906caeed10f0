"""`Steps`: how the steps of a run are issued, one with what hooks ask of it, or many in a call that nobody looks at.

Takes a `Ready` whose session is open; gives a `Ran` for each call. Knows of no hook and keeps no count.

A run goes one of two ways, decided before its first step and kept to the end, because the ops of a step hold state of
their own (the generators of random ops), which must advance in one place: all steps run in the loop, also single ones,
or all run as the model built them. Steps that hold no such state may be compiled where there are many.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.cluster import LOST_SESSION
from lightwell.engine.compiled_steps import CompiledSteps
from lightwell.engine.fetches import Fetches, key_of
from lightwell.engine.kept import Kept, KeptOfOne, Ran
from lightwell.engine.ready import Ready
from lightwell.errors import HookError
from lightwell.loops.loop import Loop, Outlet

_MOST_PREPARED = 64
_FAR = 2**62  # a count that no run reaches


@dataclass(frozen=True, eq=False)
class _Look:
    """What hooks ask of a step, and all that is fetched for one that they look at."""

    fetches: Fetches
    elements: list[Any]


class Steps:
    """Issues steps.

    Args:
        ready: what was made ready.
        find: what a name means that somebody asked for.
    """

    def __init__(self, ready: Ready, find: Callable[[Any, str], Any]) -> None:
        self._ready = ready
        self._loop = ready.opened.loop
        self._compiled: CompiledSteps | None = None
        if ready.opened.compiled is not None and self._loop is not None:
            self._compiled = CompiledSteps(ready, ready.opened.compiled, self._loop)
        self._find = find
        self._looks: dict[Hashable, _Look] = {}
        self._many: dict[bool, list[Any]] = {}
        self._no_metadata = tf.compat.v1.RunMetadata()  # there is something in it only where options ask for it

    @property
    def can_be_many(self) -> bool:
        """Whether a call may have more than one step."""
        return self._loop is not None

    def one(
        self, asked: Mapping[int, Any], feeds: Mapping[Any, Any], options: Any
    ) -> tuple[Ran, Mapping[int, Any], Any]:
        """Runs one step; gives what it came to, what was asked for, and the `RunMetadata`."""
        look, calls = self._look_for(asked), self._ready.opened.calls
        metadata = self._no_metadata
        if feeds or options is not None:
            metadata = tf.compat.v1.RunMetadata()
            values = calls.run_with_options(look.elements, self._allowed(feeds), options, metadata)
        elif self._loop is not None:  # asked in the way of many steps, it is prepared together with them
            one_step = (self._loop.most, self._loop.until), (np.int64(1), np.int64(_FAR))
            values = calls.run(look.elements, *one_step, stays=self._ready.opened.threads.stays)
        else:
            started = time.perf_counter()
            values = calls.run(look.elements, stays=self._ready.opened.threads.stays)
            self._ready.opened.threads.took(1, time.perf_counter() - started)
        carried, rest = _cut(values, len(self._ready.carried))
        if self._loop is None:
            kept_values, rest = _cut(rest, len(self._ready.kept.elements))
            kept: Kept = KeptOfOne(kept_values)
        else:
            pairs, rest = _cut(rest, 2 * len(self._ready.kept.elements))
            kept = Kept(pairs[::2], pairs[1::2])
        late = calls.run(look.fetches.late) if look.fetches.late else ()
        asked_for = rest[len(self._driving()) + len(self._ready.always or ()) :]
        return Ran(1, carried, kept), look.fetches.read(asked_for, late), metadata

    def many(self, most: int, until: int, left: float, record: bool) -> Ran:
        """Runs at most so many steps, to the count `until`, a NaN, or the end of the input.

        Args:
            most: how many steps; no more than it takes to come to `until`, as long as steps count alike.
            until: where to come back, if steps are counted.
            left: how many steps the run will have from here, those included; infinite where nobody knows.
            record: whether hooks will be told of each of them.
        """
        loop, ready, calls = self._loop, self._ready, self._ready.opened.calls
        if loop is None:
            raise RuntimeError("Many steps were asked for in one call, and the session has no loop.")
        if self._compiled is not None and not record:
            compiled = self._compiled.steps_of(most, left)
            if compiled:
                return self._compiled.many(compiled)
        elements = [*ready.kept.elements, *(ready.in_bulk if record else ())]
        fetches = self._fetched_of_many(record, elements, loop)
        fed, limits = (loop.most, loop.until), (np.int64(most), np.int64(min(until, _FAR)))
        failure = None
        try:
            values = calls.run(fetches, fed, limits, stays=ready.opened.threads.stays)
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            failure = error  # the steps before the one that failed have happened
            saved = [*_outlet(loop.saved, ready.carried, elements), loop.saved.done]
            values = calls.run(saved, stays=ready.opened.threads.may_stay)
        return self._ran(values[: 1 + len(ready.carried) + 2 * len(elements)], elements, failure)

    def recorded(self, asked: Mapping[int, Any], values: Mapping[str, Any]) -> Mapping[int, Any]:
        """What hooks ask of a step that has run in a call of many, out of what was recorded of it."""
        fetches = self._look_for(asked).fetches
        return fetches.read([values[element.name] for element in fetches.elements])

    def took(self, ran: Ran, seconds: float) -> None:
        """Takes in how long a call of many steps took."""
        if self._compiled is not None:
            self._compiled.took(ran, seconds)
        if not ran.is_compiled:
            self._ready.opened.threads.took(ran.steps, seconds)

    def _fetched_of_many(self, record: bool, elements: Sequence[Any], loop: Loop) -> list[Any]:
        """What a call of many steps fetches; found once for each of the two kinds."""
        if record not in self._many:
            outlet = _outlet(loop.running, self._ready.carried, elements)
            self._many[record] = [*outlet, loop.running.done, *loop.as_written(elements)]
        return self._many[record]

    def _ran(self, values: Sequence[Any], elements: Sequence[Any], failure: tf.errors.OpError | None) -> Ran:
        carried, rest = _cut(values, len(self._ready.carried))
        joined, lengths, done = rest[:-1:2], rest[1:-1:2], int(rest[-1])
        if not self._ready.run and elements:  # a step is done when all that is kept of it is there
            done = Kept(joined, lengths).steps
        own = len(self._ready.kept.elements)
        rows: list[Mapping[str, Any]] = []
        both = Kept(joined, lengths, done)
        if len(elements) > own:
            names = [element.name for element in elements]
            rows = [dict(zip(names, both.of_step(step), strict=True)) for step in range(both.steps)]
        return Ran(done, carried, Kept(joined[:own], lengths[:own], done), rows, failure, both.bytes)

    def _look_for(self, asked: Mapping[int, Any]) -> _Look:
        """The fetches of a step that hooks ask something of; made once for each set."""
        key = key_of(asked)
        look = self._looks.get(key)
        if look is None:
            fetches = Fetches(self._ready.graph, asked, self._find)
            of_hooks = [one if self._loop is None else self._loop.of_last_step(one) for one in fetches.elements]
            as_written = []
            if self._loop is not None:
                as_written = self._loop.as_written([*self._ready.kept.elements, *fetches.elements])
            look = _Look(fetches, [*self._each_step(), *(self._ready.always or ()), *of_hooks, *as_written])
            if len(self._looks) >= _MOST_PREPARED:  # a hook that makes up new fetches each step
                return look
            self._looks[key] = look
        return look

    def _each_step(self) -> list[Any]:
        """What every step fetches: what is carried, what is kept, and what makes it happen."""
        ready = self._ready
        if self._loop is None:
            return [*ready.carried, *ready.kept.elements, *self._driving()]
        return [*_outlet(self._loop.running, ready.carried, ready.kept.elements), *self._driving()]

    def _driving(self) -> list[Any]:
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


def _cut(values: Sequence[Any], width: int) -> tuple[Sequence[Any], Sequence[Any]]:
    return values[:width], values[width:]


def _outlet(outlet: Outlet, carried: Sequence[Any], elements: Sequence[Any]) -> list[Any]:
    """What to fetch of a loop: what is carried, and of each kept element its values and their lengths."""
    found = [outlet.carried[tensor.name] for tensor in carried]
    for element in elements:
        found += [outlet.every[element.name].joined, outlet.every[element.name].lengths]
    return found
