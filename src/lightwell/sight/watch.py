"""`Watch`: taps with a cadence. Reads values by path while a model runs, and hands them to a function or to
TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell import events
from lightwell.engine.program import Program
from lightwell.errors import UsageError, WatchError
from lightwell.hooks.base import ScheduledHook, SessionRunArgs
from lightwell.keys import ModeKeys
from lightwell.log import logger
from lightwell.sight.batch import batch_size
from lightwell.sight.cadence import Cadence
from lightwell.sight.reductions import Reduction
from lightwell.sight.request import Request, make_request
from lightwell.sight.select import Selection
from lightwell.sight.step import Step
from lightwell.sight.to_tensorboard import write_values

_BATCH_SIZE = " batch size"  # a key no path can have
_MOST_SHOWN = 4


class Watch(ScheduledHook):
    """Reads values while a model runs, in `train`, `evaluate` and `predict`.

    A watch is a hook: `est.train(input_fn, hooks=[Watch("layers/dense", every=100, do=look)])`. Between its steps it
    costs nothing. Weights and optimizer state are those after the step, all else is what the step computed with.

    Args:
        paths: what to read: paths, globs, layer classes, predicates; `stats(...)` or `histogram(...)` for few numbers
            in place of whole arrays.
        every: look at each step whose number is a multiple of this (in evaluate and predict: each so many batches).
            100 when neither this nor `at` nor `every_secs` is given.
        at: look at these steps.
        every_secs: look once in so many seconds.
        do: called with a `Step` at each look. Neither `do` nor `to`: the values are logged.
        to: `"tensorboard"`: writes scalars and histograms into the event files of the run.
        name: how errors and log lines call this watch.

    Raises:
        UsageError: more than one cadence, or nothing to read.
    """

    def __init__(
        self,
        *paths: Selection | Reduction,
        every: int | None = None,
        at: Sequence[int] | None = None,
        every_secs: float | None = None,
        do: Callable[[Step], Any] | None = None,
        to: str | None = None,
        name: str | None = None,
    ) -> None:
        if not paths:
            raise UsageError('Watch: nothing to read; give it paths, as in Watch("layers/dense", every=100, do=look).')
        self.name = name or f"Watch({_shown(paths)})"
        if do is not None and not callable(do):
            raise UsageError(f"{self.name}: do must be a function of one argument, the step; got {do!r}.")
        if to not in (None, "tensorboard"):
            raise UsageError(f'{self.name}: to can be "tensorboard", got {to!r}. For all else give a function: do=...')
        self._asked = paths
        self._cadence = Cadence(self.name, every, at, every_secs)
        self._do = do
        self._to = to
        self._mode = ModeKeys.TRAIN
        self._directory = ""
        self._global_step = 0
        self._first_step = 0
        self._stride = 1
        self._batch = 0
        self._timed_from = (0, 0.0)
        self._request = Request()
        self._fetches: dict[str, Any] = {}
        self._weights: Mapping[str, Any] = {}  # as of the step `_weights_of`
        self._weights_of = -1

    def attach(self, program: Program, directory: str) -> None:
        """Finds the values in a program, before its graph is final. Called by the engine.

        Args:
            program: what will run.
            directory: where events go.

        Raises:
            PathError: a path names nothing in this program.
        """
        self._request = make_request(program, self._asked, self.name)
        self._mode, self._directory, self._stride = program.mode, directory, 1
        self._fetches = dict(self._request.fetches)
        if any(item.entry.path == "timing/examples_per_second" for item in self._request.wanted):
            self._fetches[_BATCH_SIZE] = batch_size(program)
        is_timed = any(item.entry.section == "timing" for item in self._request.wanted)
        needs_session = self._request.updates or self._request.late
        self.in_bulk = not (self._do or needs_session or is_timed or self._cadence.is_by_clock)

    def close(self) -> None:
        """Lets go of the graph: a watch that is kept for the next run must not keep the last one's."""
        self._request, self._fetches = Request(), {}
        self._weights, self._weights_of = {}, -1

    def looks_at(self) -> Any:
        """All tensors this watch may fetch."""
        return self._fetches

    def next_look(self, global_step: int) -> int:
        """The next step to look at."""
        return self._cadence.next_look(global_step)

    def next_look_seconds(self) -> float:
        """For a cadence in seconds, how many are left."""
        return self._cadence.seconds_left()

    def counter_moves_by(self, stride: int) -> None:
        """A step moves the global step by so much."""
        self._stride = max(stride, 1)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts counting."""
        self._batch = 0
        self._global_step = self._first_step = int(session.run(tf.compat.v1.train.get_global_step()))
        self._cadence.started()
        self._timed_from = (self._batch, time.perf_counter())

    def before_run(self, run_context: Any) -> Any:
        """Asks for the values, if the coming step is one to look at."""
        done = int(run_context.global_step) if self._mode == ModeKeys.TRAIN else self._batch
        if not self._cadence.is_look(done, self._stride):
            return None
        if self._request.updates and self._weights_of != done:
            self._weights = run_context.session.run(dict(self._request.updates))
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Hands the values on."""
        if self._mode == ModeKeys.TRAIN:
            self._global_step = run_context.global_step
            self._batch = (self._global_step - self._first_step) // self._stride
        else:
            self._batch += 1
        if run_values.results is None:
            return
        step = Step(
            self._values(run_values.results, run_context.session),
            global_step=self._global_step,
            batch=self._batch,
            mode=self._mode,
            stop=run_context.request_stop,
        )
        self._hand_on(step)
        self._cadence.started()
        self._timed_from = (self._batch, time.perf_counter())

    def end(self, session: Any) -> None:
        """Lets TensorBoard see what was written."""
        if self._to == "tensorboard":
            events.flush(self._directory)

    def _values(self, fetched: Mapping[str, Any], session: Any) -> dict[str, Any]:
        changes = {key: fetched[key] - self._weights[key] for key in self._request.updates}
        self._weights, self._weights_of = {key: fetched[key] for key in changes}, self._global_step
        late = session.run(dict(self._request.late)) if self._request.late else {}
        return self._request.values({**fetched, **changes, **late, **self._timing(fetched)})

    def _timing(self, fetched: Mapping[str, Any]) -> dict[str, float]:
        steps = max(self._batch - self._timed_from[0], 1)
        seconds = max(time.perf_counter() - self._timed_from[1], 1e-9)
        measured = {"timing/step": seconds / steps}
        if _BATCH_SIZE in fetched:
            measured["timing/examples_per_second"] = int(fetched[_BATCH_SIZE]) * steps / seconds
        return measured

    def _hand_on(self, step: Step) -> None:
        if self._to == "tensorboard":
            write_values(self._directory, step, step.global_step)
        if self._do is not None:
            try:
                self._do(step)
            except Exception as error:
                function = getattr(self._do, "__name__", repr(self._do))
                raise WatchError(
                    f"{self.name}: its function {function} raised {type(error).__name__} at step {step.global_step}: "
                    f"{error}"
                ) from error
        elif self._to is None:
            shown = ", ".join(f"{path} = {_short(value)}" for path, value in step.items())
            logger.info("%s at step %d: %s", self.name, step.global_step, shown)


def stop_when(path: Selection | Reduction, predicate: Callable[[Any], bool], *, every: int = 1) -> Watch:
    """A hook that stops the run once `predicate` is true of a value.

    Args:
        path: one path, or a selection; with several values, the predicate is given the whole `Step`.
        predicate: called with the value.
        every: how often to look.

    Example:
        `est.train(input_fn, hooks=[stop_when("loss", lambda loss: loss < 0.01)])`
    """
    name = f"stop_when({_shown(path if isinstance(path, list | tuple) else [path])})"
    if not callable(predicate):
        raise UsageError(f"{name}: the predicate must be a function of the value, got {predicate!r}.")

    def look(step: Step) -> None:
        value = next(iter(step.values())) if len(step) == 1 else step
        if predicate(value):
            logger.info("%s: the condition holds at step %d.", name, step.global_step)
            step.stop()

    look.__name__ = getattr(predicate, "__name__", "predicate")
    return Watch(path, every=every, do=look, name=name)


def _shown(paths: Sequence[Any]) -> str:
    """The paths of a watch as its name shows them: the first few."""
    shown = [_spelled(path) for path in paths[:_MOST_SHOWN]]
    return ", ".join([*shown, "…"] if len(paths) > _MOST_SHOWN else shown)


def _spelled(path: Any) -> str:
    if isinstance(path, Reduction):
        return f"{path.name}({_shown(path.selection)})"
    return repr(path) if isinstance(path, str) else getattr(path, "__name__", str(path))


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        if not np.issubdtype(value.dtype, np.number) or not value.size:
            return f"{value.dtype}{list(value.shape)}"
        return f"{value.dtype}{list(value.shape)} mean {value.mean():.4g}"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
