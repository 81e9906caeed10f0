"""The hooks of a training or an evaluation, in the order of `tf.estimator`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.foreign import private_hooks
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.lineage import Change
from lightwell.run.config import RunConfig
from lightwell.run.hooks.checkpoint_work import CheckpointWork
from lightwell.run.hooks.count_steps import CountSteps
from lightwell.run.hooks.finite_weights import FiniteWeights
from lightwell.run.hooks.log_loss import LogLoss
from lightwell.run.hooks.nan_guard import NanGuard
from lightwell.run.hooks.read_metrics import ReadMetrics
from lightwell.run.hooks.save_checkpoint import SaveCheckpoint
from lightwell.run.hooks.save_summaries import SaveSummaries
from lightwell.run.hooks.show_progress import ShowProgress, terminal_wants_progress
from lightwell.run.hooks.stop_after import StopAfter
from lightwell.run.hooks.stop_at_step import StopAtStep


def training_hooks(
    spec: EstimatorSpec,
    config: RunConfig,
    model_dir: str,
    hooks: Sequence[Any],
    *,
    saver: SaveCheckpoint | None,
    listeners: Sequence[Any],
    stop: StopAtStep | None,
    explain_nan: Callable[[Any], str],
) -> list[Any]:
    """All hooks of a training.

    Args:
        spec: what `model_fn` returned, with hooks of its own.
        config: the settings of the defaults.
        model_dir: where they write.
        hooks: the `hooks` argument of `train`.
        saver: the hook that saves checkpoints, if there is one.
        listeners: its checkpoint listeners.
        stop: the hook that stops at a step, if there is one.
        explain_nan: explains where a NaN loss of a session came from.
    """
    log_every, summary_every = config.log_step_count_steps, config.save_summary_steps
    first: list[Any] = [saver] if saver is not None else []
    if config.is_chief:
        first += spec.training_chief_hooks
        first += [CountSteps(log_every, model_dir)] if log_every else []
        first += [SaveSummaries(summary_every, model_dir, spec.scaffold)] if summary_every else []
    last: list[Any] = [] if stop is None else [stop]
    last += [NanGuard(explain_nan)]
    if terminal_wants_progress():
        last += [ShowProgress(stop, [one for one in listeners if isinstance(one, CheckpointWork)])]
    elif log_every:
        last += [LogLoss(log_every)]
    return [*first, *hooks, *last, *spec.training_hooks]


def checkpoint_hook(
    spec: EstimatorSpec,
    config: RunConfig,
    model_dir: str,
    hooks: Sequence[Any],
    *,
    listeners: Sequence[Any],
    resumed_from: Callable[[], str | None],
    edits: Sequence[Change],
) -> SaveCheckpoint | None:
    """The default checkpoint hook; None when the user has one, or turned checkpoints off.

    Args:
        spec: what `model_fn` returned, with hooks of its own.
        config: how often to save.
        model_dir: where to.
        hooks: the `hooks` argument of `train`.
        listeners: checkpoint listeners.
        resumed_from: returns the checkpoint that this training resumes from.
        edits: the edits of weights by hooks; a list that grows during the training.

    Raises:
        UsageError: there are listeners, and no checkpoints.
    """
    own = [*hooks, *spec.training_hooks, *spec.training_chief_hooks]
    savers = [hook for hook in own if isinstance(hook, tf.compat.v1.train.CheckpointSaverHook)]
    if savers:
        private_hooks.add_listeners(savers[0], listeners)
        return None
    if not config.save_checkpoints_secs and not config.save_checkpoints_steps:
        if listeners:
            raise UsageError(
                "train: There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs; both are off. "
                "(train_and_evaluate has a listener of its own: checkpoints are what it evaluates.)"
            )
        return None
    return SaveCheckpoint(
        model_dir,
        spec.scaffold,
        save_secs=config.save_checkpoints_secs,
        save_steps=config.save_checkpoints_steps,
        listeners=listeners,
        save_graph_def=config.checkpoint_save_graph_def,
        resumed_from=resumed_from,
        edits=edits,
        finite=None if config.num_ps_replicas else FiniteWeights(),
        others_step=bool(config.num_ps_replicas),
    )


def evaluation_hooks(spec: EstimatorSpec, hooks: Sequence[Any], steps: int | None, final: ReadMetrics) -> list[Any]:
    """All hooks of an evaluation of `steps` batches, the last being the one that reads the metrics."""
    counter = [StopAfter(steps)] if steps is not None else []
    return [*hooks, *counter, *spec.evaluation_hooks, final]
