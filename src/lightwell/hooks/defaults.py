"""Which hooks stand around the steps of a training or an evaluation, in the order in which `tf.estimator` has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf_hooks
from lightwell.checkpoints.lineage import Change
from lightwell.config import RunConfig
from lightwell.errors import UsageError
from lightwell.hooks.checkpoint_work import CheckpointWork
from lightwell.hooks.count_steps import CountSteps
from lightwell.hooks.finite_weights import FiniteWeights
from lightwell.hooks.log_loss import LogLoss
from lightwell.hooks.nan_guard import NanGuard
from lightwell.hooks.read_metrics import ReadMetrics
from lightwell.hooks.save_checkpoint import SaveCheckpoint
from lightwell.hooks.save_summaries import SaveSummaries
from lightwell.hooks.show_progress import ShowProgress, terminal_wants_progress
from lightwell.hooks.stop_after import StopAfter
from lightwell.hooks.stop_at_step import StopAtStep
from lightwell.spec import EstimatorSpec


def training_hooks(
    spec: EstimatorSpec,
    config: RunConfig,
    model_dir: str,
    given: Sequence[Any],
    *,
    saver: SaveCheckpoint | None,
    listeners: Sequence[Any],
    stop: StopAtStep | None,
    explain_nan: Callable[[Any], str],
) -> list[Any]:
    """All hooks of a training.

    Args:
        spec: what `model_fn` returned, with hooks of its own.
        config: what the defaults go by.
        model_dir: where they write.
        given: those given to `train`.
        saver: the one that saves checkpoints, if there is one.
        listeners: who is told of its checkpoints.
        stop: the one that knows where training ends, if it does.
        explain_nan: says of a session whose loss is NaN where that came from.
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
    return [*first, *given, *last, *spec.training_hooks]


def checkpoint_hook(
    spec: EstimatorSpec,
    config: RunConfig,
    model_dir: str,
    given: Sequence[Any],
    *,
    listeners: Sequence[Any],
    resumed_from: Callable[[], str | None],
    edits: Sequence[Change],
) -> SaveCheckpoint | None:
    """The default checkpoint hook; None when the user brings one, or wants no checkpoints.

    Args:
        spec: what `model_fn` returned, with hooks of its own.
        config: how often to save.
        model_dir: where to.
        given: those given to `train`.
        listeners: who is told of checkpoints.
        resumed_from: gives the checkpoint that this training goes on from.
        edits: what hooks have changed in the weights by hand; it grows as they do.

    Raises:
        UsageError: there are listeners, and no checkpoints.
    """
    own = [*given, *spec.training_hooks, *spec.training_chief_hooks]
    brought = [hook for hook in own if isinstance(hook, tf.compat.v1.train.CheckpointSaverHook)]
    if brought:
        _tf_hooks.add_listeners(brought[0], listeners)
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


def evaluation_hooks(spec: EstimatorSpec, given: Sequence[Any], steps: int | None, final: ReadMetrics) -> list[Any]:
    """All hooks of an evaluation of so many batches, the last being the one that reads the metrics."""
    counter = [StopAfter(steps)] if steps is not None else []
    return [*given, *counter, *spec.evaluation_hooks, final]
