"""`EarlyStopping`: ends a training whose evaluations get no better, and goes back to the best checkpoint."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tensorflow as tf

from lightwell.base import checked_json as checked
from lightwell.base.log import logger
from lightwell.base.safe_files import replace_file
from lightwell.errors import UsageError, WrongType, reason_of
from lightwell.estimator.workflow.by_metric import MetricObserver
from lightwell.estimator.workflow.keep_best import BestCheckpoint, KeepBest, check_no_link
from lightwell.estimator.workflow.observers import Evaluation
from lightwell.run.checkpoints.files import make_newest
from lightwell.run.checkpoints.index import step_of

if TYPE_CHECKING:
    from lightwell.estimator.core import Estimator

_STATE = "state.json"
_FOLDER = "early_stopping"


@dataclass(frozen=True)
class StoppingState:
    """The state of `EarlyStopping`, written to disk after each evaluation.

    Attributes:
        best_value: the value to beat; None before the first evaluation that has one.
        best_step: its step.
        waited: evaluations without an improvement since.
        last_value: the value of the newest evaluation.
        last_step: its step.
    """

    best_value: float | None = None
    best_step: int | None = None
    waited: int = 0
    last_value: float | None = None
    last_step: int = -1


class EarlyStopping(MetricObserver):
    """Stops `train_and_evaluate` once a metric has not improved for `patience` evaluations.

    The decision is made at the evaluation itself. The count is stored in `model_dir/early_stopping`, and survives a
    restart. With `restore_best` the best checkpoint is copied there too, so that `keep_checkpoint_max` does not delete
    it. When the training is over, for whatever reason, it becomes the newest of `model_dir`: evaluate,
    predict, export and further training start from it. The later checkpoints stay.

    Args:
        metric: the metric's name, as `evaluate` gives it.
        patience: how many evaluations in a row may bring no improvement.
        min_delta: by how much the metric must get better to count as improved.
        mode: `"max"` if high values are good, `"min"` if low ones are, `"auto"` to go by the name.
        restore_best: whether to go back to the best checkpoint at the end.
        eval_name: the name of the `EvalSpec` whose evaluations count; None where there is only one.

    Raises:
        UsageError: a setting does not make sense.

    Example:
        With `train_and_evaluate`, or in a loop of one's own::

            stopping = lw.EarlyStopping("accuracy", patience=3)
            lw.train_and_evaluate(est, train_spec, eval_spec, observers=[stopping])

            stopping.begin(est)
            while not stopping.offer(est, est.train(input_fn, steps=100).evaluate(eval_input_fn)):
                pass
            stopping.end(est)
    """

    def __init__(
        self,
        metric: str,
        patience: int,
        min_delta: float = 0.0,
        mode: str = "auto",
        restore_best: bool = True,
        eval_name: str | None = None,
    ) -> None:
        super().__init__(metric, mode, eval_name)
        if isinstance(patience, bool) or not isinstance(patience, int):
            raise WrongType(f"EarlyStopping: patience must be a whole number, got {patience!r}. It counts evaluations.")
        if patience < 1:
            raise UsageError(f"EarlyStopping: patience must be at least 1, got {patience}. It counts evaluations.")
        if not min_delta >= 0:
            raise UsageError(
                f"EarlyStopping: min_delta must be 0 or more, got {min_delta!r}. It says by how much {metric!r} must "
                f"get better; the direction comes from mode={self.mode!r}."
            )
        self.patience = patience
        self.min_delta = min_delta
        self.restore_best = restore_best
        self._state = StoppingState()
        self._keep: KeepBest | None = None
        self.reason = ""
        self._has_seen = False

    @property
    def best(self) -> BestCheckpoint | None:
        """Step, value and path of the best checkpoint; the path is that of its copy. None before the first."""
        if self._keep is not None:
            return self._keep.best
        now = self._state
        return (
            None
            if now.best_value is None or now.best_step is None
            else BestCheckpoint(now.best_step, now.best_value, "")
        )

    @property
    def waited(self) -> int:
        """How many evaluations in a row have brought no improvement."""
        return self._state.waited

    def begin(self, estimator: Estimator) -> None:
        """Reads the state of an earlier run, unless its checkpoints were deleted."""
        super().begin(estimator)
        check_no_link(self.model_dir, self._directory)
        self.reason, self._has_seen = "", False
        if estimator.latest_checkpoint() is None:
            _set_aside(self._directory)
        self._read(estimator)
        if self._state.waited:
            logger.info("EarlyStopping: going on where an earlier run was. %s", self._summary())

    def after_evaluation(self, evaluation: Evaluation) -> str | None:
        """Counts the evaluation; returns the reason if training is to stop."""
        value = self.value_of(evaluation)
        if value is None:
            return None
        step = evaluation.global_step
        if self._estimator is not None and not self._has_seen and step < self._state.last_step:
            _set_aside(self._directory)  # the training does not continue that one
            self._read(self._estimator)
        self._has_seen = True
        if step > self._state.last_step:  # else it was counted before a restart
            self._count(evaluation, value)
        if self._state.waited < self.patience:
            return None
        self.reason = f"EarlyStopping: {self._summary()}"
        logger.info("%s Stopping at step %d.", self.reason, step)
        return self.reason

    def end(self, estimator: Estimator) -> None:
        """Makes the best checkpoint the newest one."""
        best = self._keep.best if self._keep is not None else None
        newest = estimator.latest_checkpoint()
        if best is not None and newest is not None and step_of(newest) != best.step:
            make_newest(estimator.model_dir, best.path)
            logger.info(
                "EarlyStopping: the newest checkpoint of %s is now that of step %d, with the best %s = %g. Those of "
                "later steps stay; the last was %s.",
                *(estimator.model_dir, best.step, self.metric, best.value, os.path.basename(newest)),
            )
        if self.reason or best is not None:  # further training starts with full patience
            last_step = self._state.last_step if best is None else best.step
            self._write(dataclasses.replace(self._state, waited=0, last_step=last_step))

    def _read(self, estimator: Estimator) -> None:
        self._state = self._recorded()
        self._keep = None
        if self.restore_best:
            self._keep = KeepBest(self.metric, 1, self.mode, self.eval_name, os.path.join(self._directory, "best"))
            self._keep.log_level = logging.DEBUG  # an internal copy is no news for the user
            self._keep.begin(estimator)

    def _count(self, evaluation: Evaluation, value: float) -> None:
        if self._keep is not None:
            self._keep.after_evaluation(evaluation)
        state = dataclasses.replace(self._state, last_value=value, last_step=evaluation.global_step)
        if self.is_better(value, state.best_value, by=self.min_delta if state.best_value is not None else 0.0):
            state = dataclasses.replace(state, best_value=value, best_step=evaluation.global_step, waited=0)
        else:
            state = dataclasses.replace(state, waited=state.waited + 1)
        self._write(state)

    def _summary(self) -> str:
        state = self._state
        by = f" by more than {self.min_delta:g}" if self.min_delta else ""
        last = "none" if state.last_value is None else f"{state.last_value:g} at step {state.last_step}"
        best = "there was no value but NaN"
        if state.best_value is not None:
            best = f"the best was {state.best_value:g} at step {state.best_step}"
        return (
            f"{self.metric} has not improved{by} for {state.waited} evaluation{'s' * (state.waited != 1)}, patience is "
            f"{self.patience}: {best}, the last is {last}."
        )

    @property
    def _directory(self) -> str:
        return os.path.join(self.model_dir, _FOLDER, self.own_name)

    def _write(self, state: StoppingState) -> None:
        self._state = state
        tf.io.gfile.makedirs(self._directory)
        settings = {"metric": self.metric, "mode": self.mode}
        replace_file(
            os.path.join(self._directory, _STATE), json.dumps({**settings, **dataclasses.asdict(state)}, indent=1)
        )

    def _recorded(self) -> StoppingState:
        path = os.path.join(self._directory, _STATE)
        if not tf.io.gfile.exists(path):
            return StoppingState()
        try:
            with tf.io.gfile.GFile(path, "r") as file:
                record = checked.parse(file.read())
            mode = checked.field(record, "mode", checked.text)
            state = StoppingState(
                checked.field(record, "best_value", checked.or_none(checked.any_number)),
                checked.field(record, "best_step", checked.or_none(checked.number)),
                checked.field(record, "waited", checked.number),
                checked.field(record, "last_value", checked.or_none(checked.any_number)),
                int(checked.field(record, "last_step", checked.real)),
            )
        except (ValueError, tf.errors.OpError) as error:
            raise UsageError(
                f"EarlyStopping: {path} cannot be read ({reason_of(error)}), so that nobody knows how long was "
                "waited. Move it away to wait anew."
            ) from error
        if mode != self.mode:
            raise UsageError(
                f"EarlyStopping: {path} was written with mode={mode!r}, and this one has mode={self.mode!r}. Move that "
                "directory away to start over."
            )
        return state


def _set_aside(directory: str) -> None:
    """Moves the state of another training away."""
    if not tf.io.gfile.exists(os.path.join(directory, _STATE)):
        return
    number = 1
    while tf.io.gfile.exists(f"{directory}.earlier-{number}"):
        number += 1
    tf.io.gfile.rename(directory, f"{directory}.earlier-{number}")
    logger.warning(
        "EarlyStopping: %s was left by another training, whose checkpoints are gone or not gone on from; it was moved "
        "to %s.earlier-%d, and nothing of it counts.",
        *(directory, directory, number),
    )
