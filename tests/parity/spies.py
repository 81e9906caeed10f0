"""Hooks and checkpoint listeners that write down every call made to them, and do something at a chosen moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1

Calls = list[list[Any]]
Act = Callable[[Any], None]


class SpyHook(v1.train.SessionRunHook):  # type: ignore[misc]
    """Notes `[name, method]` in `calls`; `acts` maps a method to what it does in its `at`-th call, once."""

    def __init__(self, name: str, calls: Calls, at: int = 1, **acts: Act) -> None:
        self.name, self.calls, self.at, self.acts = name, calls, at, acts
        self.counts: dict[str, int] = {}

    def _note(self, method: str, run_context: Any = None) -> None:
        self.calls.append([self.name, method])
        self.counts[method] = self.counts.get(method, 0) + 1
        if method in self.acts and self.counts[method] == self.at:
            self.acts[method](run_context)

    def begin(self) -> None:
        self._note("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._note("after_create_session")

    def before_run(self, run_context: Any) -> None:
        self._note("before_run", run_context)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._note("after_run", run_context)

    def end(self, session: Any) -> None:
        self._note("end")


class SpyListener(v1.train.CheckpointSaverListener):  # type: ignore[misc]
    """Notes `[name, method, step]` in `calls`; asks for the end of training after a save at `stop_at` or later."""

    def __init__(self, name: str, calls: Calls, stop_at: int | None = None) -> None:
        self.name, self.calls, self.stop_at = name, calls, stop_at

    def begin(self) -> None:
        self.calls.append([self.name, "begin"])

    def before_save(self, session: Any, global_step_value: Any) -> None:
        self.calls.append([self.name, "before_save", int(global_step_value)])

    def after_save(self, session: Any, global_step_value: Any) -> bool:
        self.calls.append([self.name, "after_save", int(global_step_value)])
        return self.stop_at is not None and int(global_step_value) >= self.stop_at

    def end(self, session: Any, global_step_value: Any) -> None:
        self.calls.append([self.name, "end", int(global_step_value)])


def raising(error: BaseException) -> Act:
    """An act that raises."""

    def act(run_context: Any) -> None:
        raise error

    return act


def stop(run_context: Any) -> None:
    """An act that asks for the end of the loop."""
    run_context.request_stop()


def known_name(error: BaseException) -> str:
    """The nearest of an error's types that Python or TensorFlow defines: what a program can catch on both sides."""
    kinds = type(error).__mro__
    return next(kind.__name__ for kind in kinds if kind.__module__.split(".")[0] in ("builtins", "tensorflow"))
