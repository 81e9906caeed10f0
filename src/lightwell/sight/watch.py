"""`Watch`: taps with a cadence. Reads values by path while a model runs, and hands them to a function or to
TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import HookError, PathError, UsageError, WatchError
from lightwell.hooks.base import ScheduledHook, SessionRunArgs
from lightwell.keys import ModeKeys
from lightwell.log import logger
from lightwell.sight.nearest import nearest_paths
from lightwell.sight.reductions import Reduction
from lightwell.sight.request import Request, make_request
from lightwell.sight.select import Selection
from lightwell.sight.to_tensorboard import write_values

_DEFAULT_EVERY = 100
_BATCH_SIZE = " batch size"  # a key no path can have


class Step(Mapping[str, Any]):
    """What a watch sees at one step: values by path, as NumPy arrays (or `Stats`, `Histogram`).

    Attributes:
        global_step: the step counter, counting the step that just ran.
        mode: the mode that is running, a `ModeKeys` value.
        batch: which batch of this run it is, from 1.
    """

    def __init__(
        self, values: Mapping[str, Any], *, global_step: int, batch: int, mode: str, stop: Callable[[], None]
    ) -> None:
        self._values = values
        self._stop = stop
        self.global_step = global_step
        self.batch = batch
        self.mode = mode

    def stop(self) -> None:
        """Ends the run after this step; training saves its last checkpoint as usual."""
        self._stop()

    def __getitem__(self, path: str) -> Any:
        if path in self._values:
            return self._values[path]
        alone = [name for name in self._values if name.endswith("/" + path)]
        if len(alone) == 1:
            return self._values[alone[0]]
        close = nearest_paths(path, self._values) or list(self._values)
        raise PathError(f"This watch reads no {path!r}; it reads {', '.join(map(repr, close[:5]))}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Step({self.global_step}, {list(self._values)})"


class Watch(ScheduledHook):
    """Reads values while a model runs, in `train`, `evaluate` and `predict`.

    A watch is a hook: `est.train(input_fn, hooks=[Watch("layers/dense", every=100, do=look)])`. Between its steps it
    costs nothing.

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
        self.name = name or f"Watch({', '.join(_shown(path) for path in paths)})"
        _check_arguments(self.name, paths, every, at, every_secs, do, to)
        self._asked = paths
        self._every = every if every or at is not None or every_secs is not None else _DEFAULT_EVERY
        self._at = sorted(at) if at is not None else None
        self._every_secs = every_secs
        self._do = do
        self._to = to
        self._request = Request((), {}, {})
        self._mode = ModeKeys.TRAIN
        self._directory: str | None = None
        self._fetches: dict[str, Any] = {}
        self._before: dict[str, Any] = {}
        self._before_step = -1
        self._looked_at = (0, 0.0)
        self._batch = 0
        self._global_step = 0

    def attach(self, program: Program, directory: str | None) -> None:
        """Finds the values in a program, before its graph is final. Called by the engine.

        Raises:
            PathError: a path names nothing in this program.
        """
        self._request = make_request(program, self._asked, self.name)
        self._mode, self._directory = program.mode, directory
        self._fetches = dict(self._request.fetches)
        with program.graph.as_default():
            for path, variable in self._request.updates.items():
                with tf.control_dependencies([program.spec.train_op]):
                    self._fetches[path] = tf.identity(variable.read_value())
            if any(item.path == "timing/examples_per_second" for item in self._request.wanted):
                self._fetches[_BATCH_SIZE] = _batch_size(program)

    @property
    def one_step_at_a_time(self) -> bool:
        """Whether values of several steps cannot be read in one go: a change of weights needs them before and after."""
        return bool(self._request.updates)

    def looks_at(self) -> Any:
        """All tensors this watch may fetch."""
        return self._fetches

    def next_look(self, global_step: int) -> int:
        """The next step to look at; to tell what a step changed, the one before it is looked at too."""
        look = self._next_step(global_step)
        if self._request.updates and look - 1 > global_step:
            return look - 1
        return look

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts counting."""
        self._batch = 0
        self._global_step = int(session.run(tf.compat.v1.train.get_global_step()))
        self._looked_at = (self._global_step, time.perf_counter())
        self._remember_weights(session, self._global_step)

    def before_run(self, run_context: Any) -> Any:
        """Asks for the values, if the coming step is one to look at."""
        if not self._is_look((run_context.global_step if self._mode == ModeKeys.TRAIN else self._batch) + 1):
            return None
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Hands the values on."""
        self._batch += 1
        if self._mode == ModeKeys.TRAIN:
            self._global_step = run_context.global_step
        if run_values.results is not None:
            values = self._values(run_values.results)
            step = Step(
                values,
                global_step=self._global_step,
                batch=self._batch,
                mode=self._mode,
                stop=run_context.request_stop,
            )
            self._hand_on(step)
            self._looked_at = (self._count(), time.perf_counter())
        self._remember_weights(run_context.session, self._count())

    def _count(self) -> int:
        return self._global_step if self._mode == ModeKeys.TRAIN else self._batch

    def _is_look(self, count: int) -> bool:
        if self._at is not None:
            return count in self._at
        if self._every_secs is not None:
            return time.perf_counter() >= self._looked_at[1] + self._every_secs
        return self._every is not None and count % self._every == 0

    def _next_step(self, count: int) -> int:
        if self._at is not None:
            return next((step for step in self._at if step > count), 2**62)
        if self._every_secs is not None or self._every is None:
            return count + 1
        return (count // self._every + 1) * self._every

    def _remember_weights(self, session: Any, count: int) -> None:
        """Keeps the weights of the step before a look, to tell what the look's step changed."""
        if self._request.updates and self._is_look(count + 1):
            self._before = session.run(dict(self._request.updates))

    def _values(self, fetched: Mapping[str, Any]) -> dict[str, Any]:
        values = self._request.values(fetched)
        for path in self._request.updates:
            values[path] = fetched[path] - self._before[path]
        steps, seconds = self._count() - self._looked_at[0], time.perf_counter() - self._looked_at[1]
        for item in self._request.wanted:
            if item.path == "timing/step":
                values[item.path] = seconds / max(steps, 1)
            elif item.path == "timing/examples_per_second":
                values[item.path] = int(fetched[_BATCH_SIZE]) * max(steps, 1) / max(seconds, 1e-9)
        return {item.path: values[item.path] for item in self._request.wanted}

    def _hand_on(self, step: Step) -> None:
        if self._to == "tensorboard":
            if self._directory is None:
                raise HookError(f"{self.name}: there is no directory to write TensorBoard events to.")
            write_values(self._directory, step, step.global_step)
        if self._do is not None:
            try:
                self._do(step)
            except (StopIteration, tf.errors.OpError):
                raise
            except Exception as error:
                raise WatchError(
                    f"{self.name}: its function {getattr(self._do, '__name__', self._do)!r} raised "
                    f"{type(error).__name__} at step {step.global_step}: {error}"
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

    def look(step: Step) -> None:
        value = next(iter(step.values())) if len(step) == 1 else step
        if predicate(value):
            logger.info("stop_when(%s): the condition holds at step %d.", _shown(path), step.global_step)
            step.stop()

    return Watch(path, every=every, do=look, name=f"stop_when({_shown(path)})")


def _check_arguments(name: str, paths: Any, every: Any, at: Any, every_secs: Any, do: Any, to: Any) -> None:
    if not paths:
        raise UsageError('Watch: nothing to read; give it paths, as in Watch("layers/dense", every=100, do=look).')
    given = [word for word, value in (("every", every), ("at", at), ("every_secs", every_secs)) if value is not None]
    if len(given) > 1:
        raise UsageError(f"{name}: choose one cadence, got {' and '.join(given)}.")
    if every is not None and (isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1):
        raise UsageError(f"{name}: every must be a whole number of at least 1, got {every!r}.")
    if every_secs is not None and every_secs <= 0:
        raise UsageError(f"{name}: every_secs must be more than 0, got {every_secs!r}.")
    if do is not None and not callable(do):
        raise UsageError(f"{name}: do must be a function of one argument, the step; got {do!r}.")
    if to not in (None, "tensorboard"):
        raise UsageError(f'{name}: to can be "tensorboard", got {to!r}. For anything else give a function: do=...')


def _batch_size(program: Program) -> Any:
    leaves = tf.nest.flatten([program.inputs.features, program.inputs.labels], expand_composites=True)
    leaves = [leaf for leaf in leaves if tf.is_tensor(leaf) and leaf.shape.rank != 0]
    return tf.shape(leaves[0])[0] if leaves else tf.constant(0)


def _shown(path: Any) -> str:
    if isinstance(path, Reduction):
        return f"{path.name}({', '.join(_shown(one) for one in path.selection)})"
    return repr(path) if isinstance(path, str) else getattr(path, "__name__", str(path))


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        if not np.issubdtype(value.dtype, np.number) or not value.size:
            return f"{value.dtype}{list(value.shape)}"
        return f"{value.dtype}{list(value.shape)} mean {value.mean():.4g}"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
