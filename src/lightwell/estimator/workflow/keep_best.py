"""`KeepBest`: copies the best checkpoints by a metric to a directory of its own."""

from __future__ import annotations

import errno
import json
import logging
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from lightwell.base import checked_json as checked
from lightwell.base.log import logger
from lightwell.base.safe_files import is_link, replace_file
from lightwell.errors import CheckpointUnreadable, ModelDirError, UsageError, WrongType, reason_of
from lightwell.estimator.workflow.by_metric import MetricObserver
from lightwell.estimator.workflow.observers import Evaluation
from lightwell.run.checkpoints.files import (
    copy_checkpoint,
    first_part_in,
    name_checkpoints,
    remove_all_but,
    same_checkpoint,
)
from lightwell.run.checkpoints.index import exists, latest_checkpoint

if TYPE_CHECKING:
    from lightwell.estimator.core import Estimator

_RECORD = "kept.json"


@dataclass(frozen=True)
class BestCheckpoint:
    """One of the best checkpoints.

    Attributes:
        step: its global step.
        value: the value of the metric.
        path: the path of the copy.
    """

    step: int
    value: float
    path: str


class KeepBest(MetricObserver):
    """Keeps the checkpoints with the best values of a metric, whatever `keep_checkpoint_max` deletes.

    They are in `model_dir/best/<metric>`, whose newest checkpoint, to TensorFlow, is the best one: as hard links where
    the file system has them, so that they take no space while the training keeps them too. Those of an earlier run
    count too; a run that was killed at any point leaves complete checkpoints only.

    Args:
        metric: the metric's name, as `evaluate` gives it.
        k: how many to keep.
        mode: `"max"` if high values are good, `"min"` if low ones are, `"auto"` to go by the name.
        eval_name: the name of the `EvalSpec` whose evaluations count; None where there is only one.
        directory: another directory for them.

    Raises:
        UsageError: a setting does not make sense.

    Example:
        With `train_and_evaluate`, or in a loop of one's own::

            keep = lw.KeepBest("accuracy", k=3)
            lw.train_and_evaluate(est, train_spec, eval_spec, observers=[keep])

            keep.offer(est, est.evaluate(input_fn))
            est.evaluate(test_input_fn, checkpoint_path=keep.best_path)
    """

    def __init__(
        self,
        metric: str,
        k: int = 1,
        mode: str = "auto",
        eval_name: str | None = None,
        directory: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(metric, mode, eval_name)
        if isinstance(k, bool) or not isinstance(k, int):
            raise WrongType(f"KeepBest: k must be a whole number, got {type(k).__name__} {k!r}.")
        if k < 1:
            raise UsageError(f"KeepBest: k must be at least 1, got {k}. It says how many checkpoints to keep.")
        self.k = k
        self._custom_directory = None if directory is None else os.fspath(directory)
        self._checkpoints: tuple[BestCheckpoint, ...] = ()
        self.log_level = logging.INFO

    @property
    def directory(self) -> str:
        """The directory of the copies."""
        if self._custom_directory is not None:
            return self._custom_directory
        return os.path.join(self.model_dir, "best", self.own_name)

    @property
    def kept(self) -> tuple[BestCheckpoint, ...]:
        """The best checkpoints, the best one first."""
        return self._checkpoints

    @property
    def best(self) -> BestCheckpoint | None:
        """The best of them; None before the first."""
        return self._checkpoints[0] if self._checkpoints else None

    @property
    def best_path(self) -> str | None:
        """Its path, for `checkpoint_path`."""
        return self._checkpoints[0].path if self._checkpoints else None

    def begin(self, estimator: Estimator) -> None:
        """Reads the record of an earlier run, and cleans up after one that was killed."""
        super().begin(estimator)
        self._checkpoints = ()
        check_no_link(self.model_dir, self.directory)
        if not tf.io.gfile.exists(self._record):
            self._check_unused()
            return
        self._commit(self._recorded())
        if self.best is not None and estimator.latest_checkpoint() is None:
            logger.warning(
                "KeepBest: %s has no checkpoint, but %s keeps those of an earlier training (the best has %s = %g at "
                "step %d), and they count. To start over, move that directory away.",
                *(estimator.model_dir, self.directory, self.metric, self.best.value, self.best.step),
            )

    def after_evaluation(self, evaluation: Evaluation) -> None:
        """Keeps the checkpoint if it is one of the best."""
        value = self.value_of(evaluation)
        if value is None:
            return
        if math.isnan(value):
            logger.warning("KeepBest: %s is NaN at step %d; not kept.", self.metric, evaluation.global_step)
            return
        source = evaluation.checkpoint_path
        new = BestCheckpoint(evaluation.global_step, value, os.path.join(self.directory, os.path.basename(source)))
        others = [one for one in self._checkpoints if one.step != new.step]
        ranked = sorted([*others, new], key=lambda one: (-self.sign * one.value, one.step))[: self.k]
        if new in ranked and not self._is_copied(source, new, others):
            return
        if tuple(ranked) == self._checkpoints:
            return
        self._commit(ranked)
        if new in ranked:
            logger.log(
                self.log_level,
                "KeepBest: %s = %g at step %d is number %d of %d; kept as %s.",
                *(self.metric, value, new.step, ranked.index(new) + 1, len(ranked), new.path),
            )

    def _is_copied(self, source: str, new: BestCheckpoint, others: Sequence[BestCheckpoint]) -> bool:
        """Copies the checkpoint; False, after a warning, if it is gone."""
        tf.io.gfile.makedirs(self.directory)
        if not tf.io.gfile.exists(self._record):
            self._check_unused()
            self._commit(())  # from now on the files in it are ours to remove
        if len(others) < len(self._checkpoints) and exists(source) and not same_checkpoint(source, new.path):
            self._commit(others)  # it belongs to another training: removed from the record before its file is replaced
        try:
            copy_checkpoint(source, self.directory)
        except CheckpointUnreadable as error:
            logger.warning("KeepBest: %s A higher keep_checkpoint_max keeps it for longer.", error)
            return exists(new.path)
        return True

    def _commit(self, checkpoints: Sequence[BestCheckpoint]) -> None:
        """Writes the record, then the state file, then removes all other checkpoints."""
        self._checkpoints = tuple(checkpoints)
        record = {
            "metric": self.metric,
            "mode": self.mode,
            "kept": [{"step": one.step, "value": one.value, "name": os.path.basename(one.path)} for one in checkpoints],
        }
        replace_file(self._record, json.dumps(record, indent=1))
        paths = [one.path for one in reversed(checkpoints)]
        name_checkpoints(self.directory, paths)
        remove_all_but(self.directory, paths)

    @property
    def _record(self) -> str:
        return os.path.join(self.directory, _RECORD)

    def _check_unused(self) -> None:
        """Refuses a directory with other checkpoints, which would be removed."""
        existing = latest_checkpoint(self.directory) or first_part_in(self.directory)
        if existing is not None:
            raise UsageError(
                f"KeepBest: {self.directory} has checkpoints that it did not put there, such as {existing}. Give it a "
                "directory of its own."
            )

    def _recorded(self) -> tuple[BestCheckpoint, ...]:
        try:
            with tf.io.gfile.GFile(self._record, "r") as file:
                record = checked.parse(file.read())
            checkpoints = checked.field(record, "kept", checked.all_of(self._parse_checkpoint))
            metric, mode = (checked.field(record, name, checked.text) for name in ("metric", "mode"))
        except (ValueError, tf.errors.OpError) as error:
            raise UsageError(
                f"KeepBest: {self._record} cannot be read ({reason_of(error)}), so that nobody knows which "
                "checkpoints beside it are the best. Move that directory away to start over; the checkpoints in it "
                "are whole."
            ) from error
        if (metric, mode) != (self.metric, self.mode):
            raise UsageError(
                f"KeepBest: {self.directory} keeps the best by {metric!r} (mode {mode!r}), and this one was asked for "
                f"{self.metric!r} (mode {self.mode!r}). Give it another directory, or move that one away."
            )
        return tuple(one for one in checkpoints if exists(one.path))

    def _parse_checkpoint(self, data: Any) -> BestCheckpoint:
        name = checked.field(data, "name", checked.file_name)
        value = checked.field(data, "value", checked.any_number)
        return BestCheckpoint(checked.field(data, "step", checked.number), value, os.path.join(self.directory, name))


def check_no_link(model_dir: str, directory: str) -> None:
    """Refuses a folder below `model_dir` that is a link, or below one, because checkpoints in it are removed.

    Raises:
        ModelDirError: there is a link.
    """
    base, place = model_dir.rstrip("/"), directory.rstrip("/")
    while place.startswith(f"{base}/"):
        if is_link(place):
            raise ModelDirError(
                errno.ELOOP,
                f"KeepBest: {place} is a link, and in this folder the checkpoints that are not the best are removed. "
                "Expected a folder of its own in model_dir, or none. Remove the link; to keep checkpoints elsewhere, "
                "name the place itself: lw.KeepBest(..., directory=...).",
            )
        place = os.path.dirname(place)
