"""Counts how many numbers an edit changed, and warns where it changed none.

The first batch is looked at, then the second, fourth, eighth … until something changed, and never after: an edit that
works costs one look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.foreign import private_tf
from lightwell.inside.edits.edit_numbers import SCOPE
from lightwell.run.hooks.base import ScheduledHook, SessionRunArgs


@dataclass(frozen=True, eq=False)
class EditedValue:
    """A value that an edit changed: where, and what it was before and after."""

    path: str
    before: Any
    after: Any


def counts(met: Mapping[str, Sequence[EditedValue]]) -> dict[str, Any]:
    """For each edit, by its name, a tensor with two numbers: how many were changed, of how many.

    Values inside the body of a loop cannot be read, and are left out. Made in the default graph.
    """
    by_edit: dict[str, Any] = {}
    with tf.name_scope(SCOPE):
        for name, values in met.items():
            readable = [one for one in values if all(map(_is_readable, (one.before, one.after)))]
            if readable:
                by_edit[name] = tf.add_n([_count(one.before, one.after) for one in readable])
    return by_edit


class WarnIfNothingChanged(ScheduledHook):
    """Looks at what edits change, until each changed something.

    Args:
        where: the call with the edits, for the warning.
        fetches: `counts`.
        paths: of each edit, the paths it met.
    """

    keeps_to_context = True

    def __init__(self, where: str, fetches: Mapping[str, Any], paths: Mapping[str, Sequence[str]]) -> None:
        self._where = where
        self._fetches = dict(fetches)
        self._paths = paths
        self._idle: dict[str, int] = {}  # of each edit that changed nothing yet, how many numbers it got
        self._looks = self._batches = 0
        self._next = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts over."""
        self._idle = dict.fromkeys(self._fetches, 0)
        self._looks = self._batches = self._next = 0

    def looks_at(self) -> Any:
        """The counts of all edits."""
        return self._fetches

    def next_look(self, count: int) -> int:
        """Twice as far each time."""
        return max(count + 1, self._next) if self._idle else self.NEVER

    def before_run(self, run_context: Any) -> Any:
        """Asks for the counts."""
        return SessionRunArgs(self._fetches) if self._idle else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Crosses off what changed something."""
        self._batches += 1
        if not run_values.results:
            return
        self._looks += 1
        for name in list(self._idle):
            changed, of = map(int, run_values.results[name])
            if changed:
                del self._idle[name]
            else:
                self._idle[name] += of
        self._next = run_context.count + self._batches * max(self.stride, 1)

    def passed(self, steps: int) -> None:
        """Steps without a look."""
        self._batches += steps

    def close(self) -> None:
        """Warns, also where a prediction was not read to its end."""
        for name, of in self._idle.items():
            if of:
                warn_idle(self._where, name, self._paths[name], of, self._looks)
        self._idle = {}


def warn_idle(where: str, edit: str, paths: Sequence[str], of: int, looks: int) -> None:
    """Warns that an edit changed nothing."""
    shown = ", ".join(map(repr, paths[:3])) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    batches = "the batch" if looks == 1 else f"the {looks} batches"
    logger.warning(
        "%s: %s changed nothing: 0 of %s numbers of %s, in %s looked at.", where, edit, f"{of:,}", shown, batches
    )


def _is_readable(value: Any) -> bool:
    parts = tf.nest.flatten(value, expand_composites=True)
    return all(isinstance(part, tf.Tensor) and private_tf.enclosing_body(part) is None for part in parts)


def _count(before: Any, after: Any) -> Any:
    old, new = _numbers(before), _numbers(after)
    if old is None or new is None:  # another form: a gradient in slices that became a tensor
        size = tf.size(new if old is None else old, out_type=tf.int64)
        return tf.stack([size, size])
    size = tf.size(old, out_type=tf.int64)
    same_size = tf.equal(size, tf.size(new, out_type=tf.int64))
    flat = [tf.reshape(old, [-1]), tf.reshape(new, [-1])]
    length = tf.minimum(tf.size(flat[0]), tf.size(flat[1]))
    differ = tf.math.count_nonzero(tf.not_equal(flat[0][:length], flat[1][:length]), dtype=tf.int64)
    return tf.stack([tf.where(same_size, differ, size), size])


def _numbers(value: Any) -> Any:
    if isinstance(value, tf.RaggedTensor):
        return value.flat_values
    return value.values if isinstance(value, tf.SparseTensor | tf.IndexedSlices) else value


def changed_of(fetched: Any) -> tuple[int, int]:
    """How many numbers were changed, of how many, as fetched."""
    changed, of = np.asarray(fetched)
    return int(changed), int(of)
