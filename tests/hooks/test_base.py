"""A scheduled hook is an ordinary hook that says when it is needed."""

from __future__ import annotations

import math

import tensorflow as tf

from lightwell.hooks.base import NEVER, ScheduledHook


def test_by_default_it_needs_every_step_and_nothing_else() -> None:
    hook = ScheduledHook()
    assert isinstance(hook, tf.compat.v1.train.SessionRunHook)
    assert hook.next_look(7) == 8
    assert hook.next_look_seconds() == math.inf
    assert hook.looks_at() is None
    assert (hook.in_bulk, hook.sees_nan) == (False, False)
    hook.close()


def test_never_is_beyond_any_step() -> None:
    assert NEVER > 10**15
