"""What tests of hooks may ask for."""

from __future__ import annotations

import time
from typing import Any

import pytest
import tensorflow as tf

v1 = tf.compat.v1


class Clock:
    """The time, and how far it was moved on by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def each_step(self, seconds: float) -> Any:
        """A hook that lets a step take so long."""
        clock = self

        class Takes(v1.train.SessionRunHook):
            def before_run(self, run_context: Any) -> None:
                clock.ahead += seconds

        return Takes()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made, wall, monotonic = Clock(), time.time, time.monotonic
    monkeypatch.setattr(time, "time", lambda: wall() + made.ahead)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + made.ahead)
    return made


class LosesSession(v1.train.SessionRunHook):
    """Loses the session before the step with the number `at`, once."""

    def __init__(self, at: int) -> None:
        self.at, self.sessions = at, 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.sessions += 1

    def before_run(self, run_context: Any) -> None:
        if self.sessions == 1 and run_context.count == self.at - 1:
            raise tf.errors.AbortedError(None, None, "gone")
