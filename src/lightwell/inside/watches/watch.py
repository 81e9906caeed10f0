"""`Watch`: taps with a cadence. Reads values by path while a model runs, and hands them to a function or to
TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.inside.paths.batch import batch_size
from lightwell.inside.paths.reductions import Reduction, Stats
from lightwell.inside.paths.request import TapRequest, make_request
from lightwell.inside.paths.sections.declared import LOSS
from lightwell.inside.paths.sections.timing import TIMING
from lightwell.inside.paths.select import Selection
from lightwell.inside.watches.cadence import Cadence
from lightwell.inside.watches.outputs import Output, ToFunction, ToLog, ToTensorBoard
from lightwell.inside.watches.step import Step
from lightwell.inside.weights.live_edits import LiveEditor
from lightwell.run.config import RunConfig
from lightwell.run.engine.program import Program
from lightwell.run.hooks.base import ScheduledHook, SessionRunArgs

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
        to: `"tensorboard"`: writes scalars and histograms into the event files of the run. Or an output of your own.
        name: how errors and log lines call this watch.
        on: which tasks of a cluster watch while they train: the `"chief"` alone, or `"all"`, each for itself.

    Raises:
        UsageError: more than one cadence, or nothing to read.
    """

    keeps_to_context = True

    def __init__(
        self,
        *paths: Selection | Reduction,
        every: int | None = None,
        at: Sequence[int] | None = None,
        every_secs: float | None = None,
        do: Callable[[Step], Any] | None = None,
        to: str | Output | None = None,
        name: str | None = None,
        on: str = "chief",
    ) -> None:
        if not paths:
            raise UsageError('Watch: nothing to read; give it paths, as in Watch("layers/dense", every=100, do=look).')
        self.name = name or f"Watch({_shown(paths)})"
        if do is not None and not callable(do):
            raise UsageError(f"{self.name}: do must be a function of one argument, the step; got {do!r}.")
        if to not in (None, "tensorboard") and not isinstance(to, Output):
            raise UsageError(f'{self.name}: to can be "tensorboard", got {to!r}. For all else give a function: do=...')
        if on not in ("chief", "all"):
            raise UsageError(f'{self.name}: on can be "chief" or "all", the tasks of a cluster that watch; got {on!r}.')
        self.on = on
        self._asked = paths
        self._outputs = _outputs(do, to)
        self._cadence = Cadence(self.name, every, at, every_secs)
        self._mode = ModeKeys.TRAIN
        self._step_counter: Any = None
        self._known_step: int | None = None
        self._timed_from = (0, 0.0)
        self._is_plain = False
        self._request = TapRequest()
        self._fetches: dict[str, Any] = {}
        self._editor: LiveEditor | None = None
        self._weights: Mapping[str, Any] = {}  # as of `_weights_of`: the step, and how many edits there were
        self._weights_of = (-1, 0)
        self._edits_before = 0
        self._unseen = 0  # steps of this run before the first look
        self._has_looked = False  # in any run

    def attach(self, program: Program, directory: str) -> None:
        """Finds the values in a program, before its graph is final. Called by the engine.

        Args:
            program: what will run.
            directory: where events go.

        Raises:
            PathError: a path names nothing in this program.
        """
        as_taps = any(output.is_result for output in self._outputs)
        by_example = any(output.needs_examples for output in self._outputs)
        self._request = make_request(program, self._asked, self.name, as_taps=as_taps, by_example=by_example)
        self._mode, self._step_counter, self._editor = program.mode, program.global_step, LiveEditor(program)
        for output in self._outputs:
            output.start(self.name, directory)
            output.reads(self._request.items)
        self._fetches, self._unseen = dict(self._request.fetches), 0
        if by_example or any(TIMING.needs_batch_size(item.entry) for item in self._request.items):
            self._fetches[_BATCH_SIZE] = batch_size(program)
        is_timed = any(item.entry.section.is_measured for item in self._request.items)
        reads_beside = self._request.updates or self._request.late
        self._is_plain = not (reads_beside or is_timed)
        only_records = all(output.only_records for output in self._outputs)
        self.in_bulk = only_records and not (reads_beside or is_timed or self._cadence.is_by_clock)

    def close(self) -> None:
        """Releases the graph, so that a watch that is used again does not hold the last one."""
        self._request, self._fetches, self._step_counter, self._editor = TapRequest(), {}, None, None
        self._weights, self._weights_of = {}, (-1, 0)

    def begin(self) -> None:
        """Makes sure that there is something to read from.

        Raises:
            UsageError: nobody has attached it to a model: the session is not an Estimator's.
        """
        if self._editor is None:
            raise UsageError(
                f"{self.name} works in train, evaluate and predict of an Estimator, which know the model behind its "
                "paths; here it is a hook of a session that somebody else opened, such as a "
                "tf.compat.v1.train.MonitoredSession. Hand it to est.train(..., hooks=[...]), or read tensors there by "
                "their names with a LoggingTensorHook."
            )

    def looks_at(self) -> Any:
        """All tensors this watch may fetch."""
        return self._fetches

    def next_look(self, count: int) -> int:
        """The next step to look at."""
        return self._cadence.next_look(count)

    def next_look_seconds(self) -> float:
        """For a cadence in seconds, how many are left."""
        return self._cadence.seconds_left()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts counting."""
        self._known_step = None
        self._cadence.started()
        self._timed_from = (0, time.perf_counter())

    def passed(self, steps: int) -> None:
        """Counts steps, to say at the end of how many none was looked at."""
        self._unseen += steps

    def before_run(self, run_context: Any) -> Any:
        """Asks for the values."""
        self._edits_before = self._edits_so_far  # a watch that is called before this one may add edits
        if self._request.updates and self._weights_of != (run_context.count, self._edits_so_far):
            self._weights = run_context.fetch(dict(self._request.updates))
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Hands the values on."""
        if run_values.results is None:
            return
        examples = run_values.results.get(_BATCH_SIZE)
        self._look(self._values(run_values.results, run_context), run_context, examples)
        self._cadence.started()
        self._timed_from = (run_context.batch, time.perf_counter())

    def _step_of(self, run_context: Any) -> int:
        """The global step; outside of training it stands still, and is read once."""
        if self._mode == ModeKeys.TRAIN:
            return int(run_context.count)
        if self._known_step is None:
            self._known_step = int(run_context.fetch(self._step_counter))
        return self._known_step

    @property
    def _edits_so_far(self) -> int:
        return 0 if self._editor is None else self._editor.count

    def end(self, session: Any) -> None:
        """Lets the outputs bring what they have to an end."""
        for output in self._outputs:
            output.end()
        if self._unseen and not self._has_looked:
            self._has_looked = True  # said once
            self._tell_unseen(session)

    def _tell_unseen(self, session: Any) -> None:
        """Says that a run had steps and none of them was this watch's: silence would look like a value that is fine."""
        ran = f"{self._unseen} batches"
        if self._mode == ModeKeys.TRAIN:
            ran = f"{self._unseen} steps, up to step {int(session.run(tf.compat.v1.train.get_global_step()))}"
        logger.warning(
            "%s never looked: it looks with %s, and this run had %s. Choose a cadence that meets one of them.",
            self.name,
            self._cadence,
            ran,
        )

    def _values(self, fetched: Mapping[str, Any], run_context: Any) -> dict[str, Any]:
        if self._is_plain:
            return self._request.values(fetched)
        changes = {key: fetched[key] - self._weights[key] for key in self._request.updates}
        self._weights = {key: fetched[key] for key in changes}
        self._weights_of = (run_context.count, self._edits_before)
        late = run_context.fetch(dict(self._request.late)) if self._request.late else {}
        return self._request.values({**fetched, **changes, **late, **self._timing(fetched, run_context.batch)})

    def _timing(self, fetched: Mapping[str, Any], batch: int) -> dict[str, float]:
        steps, seconds = batch - self._timed_from[0], time.perf_counter() - self._timed_from[1]
        return TIMING.measured(steps, seconds, int(fetched[_BATCH_SIZE]) if _BATCH_SIZE in fetched else None)

    def _look(self, values: Mapping[str, Any], run_context: Any, examples: Any = None) -> None:
        def stop() -> None:
            run_context.request_stop()
            if any(map(_holds_nan, values.values())):
                run_context.nan_is_expected = True

        number = self._step_of(run_context)

        def edit(path: str, value: Any) -> None:
            if self._editor is None:
                raise UsageError(f"step.edit({path!r}): the run of {self.name} is over, and its weights are saved.")
            self._editor.edit(run_context, path, value, number)

        step = Step(
            values,
            global_step=number,
            batch=run_context.batch,
            mode=self._mode,
            stop=stop,
            edit=edit,
            examples=None if examples is None else int(examples),
        )
        self._has_looked = True
        for output in self._outputs:
            output.take(step)


class StopWhen(Watch):
    """A watch that stops the run; what `stop_when` gives. It sees a loss that is NaN at whatever step."""

    def attach(self, program: Program, directory: str) -> None:
        """Finds the values in a program."""
        super().attach(program, directory)
        # The loss is the one value that is known of every step.
        self.sees_nan = all(item.entry.section is LOSS and item.reduction is None for item in self._request.items)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Hands the values on, at a step off its cadence the loss that is NaN."""
        super().after_run(run_context, run_values)
        if run_values.results is None and self.sees_nan:
            self._look({item.key: run_context.loss_value for item in self._request.items}, run_context)


def stop_when(path: Selection | Reduction, predicate: Callable[[Any], bool], *, every: int = 1) -> Watch:
    """A hook that stops the run once `predicate` is true of a value.

    Args:
        path: one path, or a selection; with several values, the predicate is given the whole `Step`.
        predicate: called with the value.
        every: how often to look. A loss that is NaN is looked at in whatever step it comes.

    A run that is stopped because of a NaN ends without an exception: `stop_when("loss", np.isnan)`.

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
    return StopWhen(path, every=every, do=look, name=name)


def here(hooks: Sequence[Any], config: RunConfig) -> tuple[Any, ...]:
    """The hooks that a training has in this process: watches that are the chief's are left out elsewhere."""
    if config.is_chief:
        return tuple(hooks)
    left_out = [hook for hook in hooks if isinstance(hook, Watch) and hook.on == "chief"]
    for hook in left_out:
        logger.info("%s runs in the chief, and not in this %s %d.", hook.name, config.task_type, config.task_id)
    return tuple(hook for hook in hooks if not any(hook is other for other in left_out))


def _shown(paths: Sequence[Any]) -> str:
    """The paths of a watch as its name shows them: the first few."""
    shown = [_spelled(path) for path in paths[:_MOST_SHOWN]]
    return ", ".join([*shown, "…"] if len(paths) > _MOST_SHOWN else shown)


def _spelled(path: Any) -> str:
    if isinstance(path, Reduction):
        return f"{path.name}({_shown(path.selection)})"
    return repr(path) if isinstance(path, str) else getattr(path, "__name__", str(path))


def _holds_nan(value: Any) -> bool:
    if isinstance(value, Stats):
        value = value.mean
    array = np.asarray(getattr(value, "flat_values", getattr(value, "values", value)))  # ragged and sparse values
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


def _outputs(do: Callable[[Step], Any] | None, to: str | Output | None) -> list[Output]:
    outputs: list[Output] = [] if do is None else [ToFunction(do)]
    if to is not None:
        outputs.insert(0, to if isinstance(to, Output) else ToTensorBoard())
    return outputs or [ToLog()]
