"""Monitors that write: `SummarySaver`, `CheckpointSaver`, `StepCounter`, `ExportMonitor`."""

from __future__ import annotations

from typing import Any, NoReturn

import tensorflow as tf

from lightwell.errors import UsageError


class StepCounter(tf.compat.v1.train.StepCounterHook):
    """Steps per second, for TensorBoard.

    Args:
        every_n_steps: steps between two values.
        output_dir: the folder of events; that of the model if None.
        summary_writer: in its place.
    """

    def __init__(self, every_n_steps: int = 100, output_dir: Any = None, summary_writer: Any = None) -> None:
        super().__init__(every_n_steps, output_dir=output_dir, summary_writer=summary_writer)
        self._of_the_model = output_dir is None and summary_writer is None

    def begin(self) -> None:
        """Opens the events of the model if there are no others."""
        if self._of_the_model:
            self._summary_writer = _NoWriter()
        super().begin()


class _NoWriter:
    """The Estimator writes `global_step/sec` into its own events."""

    def add_summary(self, *args: Any) -> None:
        """Does nothing."""


class SummarySaver(tf.compat.v1.train.SummarySaverHook):
    """Writes a summary.

    Args:
        summary_op: the summary.
        save_steps: steps between two.
        output_dir: the folder of events.
        summary_writer: in its place.
        scaffold: where the summary is, in place of `summary_op`.
    """

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ) -> None:
        super().__init__(
            save_steps=save_steps,
            output_dir=output_dir,
            summary_writer=summary_writer,
            scaffold=scaffold,
            summary_op=summary_op,
        )


class CheckpointSaver(tf.compat.v1.train.CheckpointSaverHook):
    """Writes checkpoints.

    Args:
        checkpoint_dir: the folder.
        save_secs: seconds between two.
        save_steps: steps between two.
        saver: writes them.
        checkpoint_basename: how their files begin.
        scaffold: has the saver, in its place.
    """

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ) -> None:
        super().__init__(checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold)


class ExportMonitor:
    """Is not offered: it wrote SessionBundles, which nothing reads any more."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse_export()


def refuse_export() -> NoReturn:
    """Says what to use.

    Raises:
        UsageError: always.
    """
    raise UsageError(
        "monitors.ExportMonitor wrote a SessionBundle, a format that nothing reads any more. Use learn.Experiment with "
        "export_strategies=[learn.make_export_strategy(...)], or export_savedmodel after fit."
    )


def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: Any = None,
    summary_writer: Any = None,
) -> list[Any]:
    """The monitors of a training by hand.

    Args:
        loss_op: the loss, to log it.
        summary_op: the summary, to write it.
        save_summary_steps: steps between two summaries.
        output_dir: the folder of events.
        summary_writer: in its place.
    """
    from lightwell.compat.contrib.learn.monitors.reporting import PrintTensor

    monitors: list[Any] = []
    if loss_op is not None:
        monitors.append(PrintTensor({"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return monitors
