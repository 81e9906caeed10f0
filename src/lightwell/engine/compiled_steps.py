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
from lightwell.engine.compilable import tell_once
from lightwell.engine.compiled import Compiled, Passed
from lightwell.engine.forms import Sizes
from lightwell.engine.kept import Kept, Ran
from lightwell.engine.loop import Loop
from lightwell.engine.ready import Ready
from lightwell.log import logger

_FIRST_CALLS = 3  # find out how long a step takes, and are short
_LONGEST_REASON = 300


@dataclass(frozen=True, eq=False)
class _Part:
    """What came of batches of one length."""

    steps: int
    carried: Sequence[Any]
    joined: Sequence[Any]
    lengths: Sequence[Any]
    failure: tf.errors.OpError | None = None


class CompiledSteps:
    """Issues compiled steps of one run.

    Args:
        ready: what was made ready.
        compiled: the compiled loop.
        loop: the loop that it is a variant of.
    """

    def __init__(self, ready: Ready, compiled: Compiled, loop: Loop) -> None:
        self._ready, self._compiled, self._loop, self._forms = ready, compiled, loop, ready.opened.forms
        self._calls = self._asked = 0
        if not compiled.taken.sizes:
            self._forms.batch_bytes = sum(compiled.row_bytes)
        self._preparing = 0.0

    def steps_of(self, most: int) -> int:
        """Of the steps that a call might have, how many to do by `many`; 0 for none of them."""
        self._calls += 1
        is_settled = not self._ready.opened.threads.is_open
        if self._calls <= _FIRST_CALLS or most < 2 or not self._forms.is_wanted(is_settled):
            return 0
        steps = self._forms.steps_of(most)
        self._asked = most if self._forms.batch_bytes is None else steps
        return steps

    def many(self, steps: int) -> Ran:
        """Takes in so many batches, or as many as there are, and goes over them, up to a NaN."""
        self._preparing = 0.0
        count, sizes, failure = self._take(steps)
        parts: list[_Part] = []
        for first, length, shared in _of_one_length(count, sizes):
            part = self._go_over(first, length, shared)
            parts.append(part)
            if part.failure is not None or part.steps < length:
                failure = part.failure
                break
        done = sum(part.steps for part in parts)
        carried = next((part.carried for part in reversed(parts) if part.steps), ())
        together = (
            zip(*(part.joined for part in parts), strict=True),
            zip(*(part.lengths for part in parts), strict=True),
        )
        joined, lengths = ([np.concatenate(one) for one in columns] for columns in together)
        kept = Kept(joined, lengths, done)
        return Ran(done, carried, kept, (), failure, kept.bytes, True, self._preparing)

    def took(self, ran: Ran, seconds: float) -> None:
        """Takes in how long a call took, of these or of other steps."""
        self._forms.took(ran.is_compiled, ran.steps, seconds)

    def _take(self, steps: int) -> tuple[int, list[Sizes], tf.errors.OpError | None]:
        """Takes batches in; gives how many, the lengths of each, and what ended it."""
        compiled, calls, failure = self._compiled, self._ready.opened.calls, None
        try:
            values = calls.run(
                [*compiled.taking.counts, *compiled.taking.sizes], (compiled.read.most,), (np.int64(steps),)
            )
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            failure = error
            values = calls.run([*compiled.taken.counts, *compiled.taken.sizes])
        counts, sizes = values[: len(compiled.taken.counts)], values[len(compiled.taken.counts) :]
        count = int(min([*counts, *map(len, sizes)]))
        each = [tuple(int(column[place]) for column in sizes) for place in range(count)]
        if self._forms.batch_bytes is None and each:
            self._forms.batch_bytes = self._bytes_of(each[0])
        return count, each, failure

    def _bytes_of(self, sizes: Sizes) -> int:
        """How big a batch is; where tensors differ in length, they are as long as the longest."""
        return max([*sizes, 1]) * sum(self._compiled.row_bytes)

    def _go_over(self, first: int, length: int, sizes: Sizes) -> _Part:
        """Does the steps of the batches from `first`, which are of one length."""
        chosen = np.arange(first, first + length, dtype=np.int32)
        is_most = 2 * length >= self._asked  # of the call; a form for the rest is not worth making
        room = None if self._forms.is_off else self._forms.room_for(sizes, length, is_most)
        if room is not None:
            padded = np.concatenate([chosen, np.full(room - length, first, np.int32)])
            if self._forms.is_made(sizes, room) or self._make(sizes, room, padded):
                return self._part(self._call(self._compiled.by_xla, padded, length))
        return self._by_executor(chosen)

    def _make(self, sizes: Sizes, room: int, chosen: Any) -> bool:
        """Has a form compiled, by a call without a step; says whether that can be done."""
        started = time.perf_counter()
        try:
            self._call(self._compiled.by_xla, chosen, 0)
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            self._forms.is_off = True
            tell_once(f"steps are not compiled: {_sentence(error)}.")
            return False
        finally:
            seconds = time.perf_counter() - started
            self._preparing += seconds
        logger.info("Compiled up to %d steps into one computation (%.1f sec).", room, seconds)
        self._forms.made(sizes, room)
        return True

    def _by_executor(self, chosen: Any) -> _Part:
        try:
            return self._part(self._call(self._compiled.by_executor, chosen, len(chosen)))
        except LOST_SESSION:
            raise
        except tf.errors.OpError as error:
            saved = self._loop.saved
            done, *carried = self._ready.opened.calls.run([saved.done, *self._carried(saved.carried)])
            failure, done = error, int(done)
        if not self._ready.kept.elements:
            return _Part(done, carried, (), (), failure)
        # Steps of which something is kept change nothing, and can be done again.
        part = self._part(self._call(self._compiled.by_executor, chosen, done))
        return dataclasses.replace(part, failure=failure)

    def _call(self, passed: Passed, chosen: Any, steps: int) -> Sequence[Any]:
        elements = self._ready.kept.elements
        fetches = [passed.done, *self._carried(passed.carried), *(passed.every[one.name] for one in elements)]
        fed = (self._compiled.chosen, self._compiled.steps)
        return self._ready.opened.calls.run(fetches, fed, (chosen, np.int64(steps)))

    def _carried(self, by_name: dict[str, Any]) -> list[Any]:
        return [by_name[tensor.name] for tensor in self._ready.carried]

    def _part(self, values: Sequence[Any]) -> _Part:
        done, *rest = values
        own = len(self._ready.carried)
        joined: list[Any] = []
        lengths: list[Any] = []
        for stacked in rest[own:]:
            stacked = stacked[:done]
            is_joined = stacked.ndim > 1
            joined.append(stacked.reshape(-1, *stacked.shape[2:]) if is_joined else stacked)
            lengths.append(np.full(done if is_joined else 0, stacked.shape[1] if is_joined else 0, np.int64))
        return _Part(int(done), rest[:own], joined, lengths)


def _of_one_length(count: int, sizes: Sequence[Sizes]) -> Iterator[tuple[int, int, Sizes]]:
    """Batches that follow each other and are of the same lengths: the first, how many, and the lengths."""
    first = 0
    for shared, group in itertools.groupby(sizes[:count]):
        length = len(list(group))
        yield first, length, shared
        first += length


def _sentence(error: tf.errors.OpError) -> str:
    """What XLA says, without the places in its own code and the list of all ops."""
    lines = [line.strip() for line in str(error.message).splitlines() if line.strip()]
    return " ".join(lines[:2])[:_LONGEST_REASON].rstrip(".")
