"""Hook classes: TensorFlow's own, and `ScheduledHook`, which says which steps it needs."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

SessionRunHook: Any = tf.compat.v1.train.SessionRunHook
SessionRunArgs: Any = tf.compat.v1.train.SessionRunArgs
SessionRunValues: Any = tf.compat.v1.train.SessionRunValues

NEVER = sys.maxsize
"""The answer of a `next_look` that needs no step; for users, `ScheduledHook.NEVER`."""


@dataclass(frozen=True, eq=False)
class Late:
    """A fetch that is read by itself after the step, and must not depend on one."""

    tensor: Any


Find = Callable[[str, str], Any]
"""Resolves a path or a name to what to fetch; the second argument names the caller, for errors."""


class ScheduledHook(SessionRunHook):
    """A hook that is called only on the steps it requests.

    An ordinary hook's `before_run` and `after_run` are called on every step, which forces the engine to come back to
    Python for each. A scheduled hook says which step it needs to see next; between, it costs nothing, and the engine
    runs all the steps up to there in one call. That holds in training, evaluation and prediction alike.

    Steps are identified by a count: in training the global step, else the batches of this run. The count of a step is
    that after it has run: the first step of a fresh model, and the first batch of an evaluation, is 1.

    In a session that TensorFlow opens (`tf.compat.v1.train.MonitoredSession`) it is an ordinary hook: it is called on
    every step, and its context is TensorFlow's, without a count.

    Where steps are fused, `before_run` may fetch only what `looks_at` named, and feed nothing but placeholders.

    Attributes:
        in_bulk: the hook may be called for its steps a little late, several in a row, each with its own values. For
            hooks that only record: while one is called for step 7, the session may be at step 50 already.
        sees_nan: `after_run` is called, with no results, also after a step whose loss is NaN.
        keeps_to_context: the hook reads what it needs through its `RunContext` alone, so that it also works with a
            session from the pool, which runs a model equal to the one just built.
        stride: how far each step moves the count; 0 where that is known only after a step.
        judges_each_step: `after_run` decides by itself whether the step is one of its own, so that it may be called
            after every step where it is not known how far the next one moves the count.
        NEVER: the answer of a `next_look` that needs no step.

    Example:
        A hook that keeps the loss of every hundredth step::

            class Losses(lw.ScheduledHook):
                def begin(self):
                    self.seen = []

                def next_look(self, count):
                    return (count // 100 + 1) * 100

                def after_run(self, run_context, run_values):
                    self.seen.append((run_context.count, run_context.loss_value))
    """

    NEVER = NEVER

    in_bulk: bool = False
    sees_nan: bool = False
    keeps_to_context: bool = False
    stride: int = 1
    judges_each_step: bool = False

    def next_look(self, count: int) -> int:
        """The first count after `count` whose step this hook must see; `self.NEVER` for none."""
        return count + 1

    def next_look_seconds(self) -> float:
        """In how many seconds this hook must see a step, whichever it is; for a cadence in time."""
        return math.inf

    def looks_at(self) -> Any:
        """All that `before_run` may ever fetch, as a structure of tensors; called after `begin`, while the graph can
        still grow."""
        return None

    def passed(self, steps: int) -> None:
        """Called after `steps` steps ran without this hook; for hooks that count."""

    def close(self) -> None:
        """Called once when the run is over, also after an error, where `end` is not."""

    def after_stale(self, count: int) -> int:
        """The answer of `next_look` for a hook that acts on the count before a step, plus one, as TensorFlow's do.

        The same as `count` itself unless steps move the count by more than one.
        """
        return count + max(self.stride, 1) - 1
