"""`Rounds`: the evaluations of a training, at its checkpoints.

A round evaluates each `EvalSpec` that is due, through the public verbs of the Estimator, then calls observers and
exporters, in the order of a local `tf.estimator`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP
from lightwell.base.log import logger
from lightwell.errors import NotEvaluated, UsageError, WrongType
from lightwell.estimator.workflow.cadence import Cadence
from lightwell.estimator.workflow.exporters import export_all
from lightwell.estimator.workflow.observers import Evaluation, EvaluationObserver
from lightwell.estimator.workflow.result import TrainAndEvaluateResult
from lightwell.estimator.workflow.specs import EvalSpec
from lightwell.run.checkpoints.index import step_of


class EvalStatus:
    """Whether there was something to evaluate, in the words of `tf.estimator`."""

    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


class SpecProgress:
    """The progress of one `EvalSpec` during a training.

    Attributes:
        spec: the spec.
        name: its name; empty if it has none.
        cadence: decides which checkpoints are evaluated.
        last: its last evaluation.
        export_results: the results of its exporters after that.
        pending: an evaluation whose final exports wait for the end of the training.
    """

    def __init__(self, spec: EvalSpec, first_step: int) -> None:
        self.spec = spec
        self.name = spec.name or ""
        self.cadence = Cadence(spec, first_step)
        self.last: Evaluation | None = None
        self.export_results: list[Any] | None = None
        self.pending: Evaluation | None = None

    def __str__(self) -> str:
        return f"evaluation {self.name!r}" if self.name else "the evaluation"

    def log_skipped(self, step: int, reason: str) -> None:
        """Logs why a checkpoint is not evaluated."""
        of = f", evaluation {self.name!r}" if self.name else ""
        logger.info("Skip the current checkpoint eval %s. Step %d%s.", reason, step, of)


class Rounds:
    """All evaluations of one `train_and_evaluate`.

    Args:
        estimator: the Estimator.
        specs: its `EvalSpec`s.
        observers: called after each evaluation.
        max_steps: the goal of the training.

    Attributes:
        stop_reason: why an observer wants the training to stop; empty while none does.
        exported_finally: whether exporters were called for the last time.
    """

    def __init__(
        self, estimator: Any, specs: Sequence[EvalSpec], observers: Sequence[EvaluationObserver], max_steps: Any
    ) -> None:
        self._estimator, self._observers, self._max_steps = estimator, observers, max_steps
        self._specs = [SpecProgress(spec, 0) for spec in specs]
        self._evaluations: list[Evaluation] = []
        self._exports: dict[str, Any] = {}
        self._running: tuple[str, float] | None = None
        self.stop_reason = ""
        self.exported_finally = False

    def begin(self, first_step: int) -> None:
        """Records the first step of the training, which is not evaluated."""
        self._specs = [SpecProgress(progress.spec, first_step) for progress in self._specs]
        for progress in self._specs:
            progress.log_skipped(first_step, "as the training has yet to make its first step")

    def next_save(self, step: int) -> int:
        """The first step after `step` that needs a checkpoint."""
        return min(progress.cadence.next_save(step) for progress in self._specs)

    def seconds_left(self) -> float:
        """Seconds until a spec is due; 0 for those that are scheduled by steps or checkpoints."""
        return min(progress.cadence.seconds_left() for progress in self._specs)

    def after_checkpoint(self, step: int, checkpoint: str | None = None) -> None:
        """Evaluates a checkpoint, by default the newest, for each spec that is due; logs why the others are not."""
        due = []
        for progress in self._specs:
            reason = progress.cadence.skip_reason(step)
            if reason is None:
                due.append(progress)
            else:
                progress.log_skipped(step, reason)
        self._round(due, step, checkpoint)

    def at_the_end(self, step: int, checkpoint: str | None = None) -> None:
        """Evaluates the last checkpoint for each spec that has not."""
        self._round([progress for progress in self._specs if not progress.cadence.is_done(step)], step, checkpoint)

    def export_pending(self) -> None:
        """Runs the final exports, which waited for the observers' `end`."""
        for progress in self._specs:
            if progress.pending is not None:
                checkpoint = self._estimator.latest_checkpoint() or progress.pending.checkpoint_path
                self._export(progress, self._evaluation_of(checkpoint, progress), checkpoint, is_final=True)
                progress.pending = None

    def progress_note(self) -> str:
        """The running evaluation, and the last metrics of each spec."""
        running = self._running  # one read: another thread calls this
        now = [] if running is None else [f"{running[0]}: running {time.monotonic() - running[1]:.0f} s"]
        parts = [*now, *(_summary(progress.last) for progress in self._specs if progress.last is not None)]
        return f"eval  {' | '.join(parts)}" if parts else ""

    def result(self, stopped: str) -> TrainAndEvaluateResult:
        """The result of all rounds."""
        first = self._specs[0]
        return TrainAndEvaluateResult.of(first.name, self._evaluations, first.export_results, self._exports, stopped)

    @property
    def start_delay(self) -> float:
        """Seconds that the evaluator of a cluster waits before its first evaluation."""
        return min(float(progress.spec.start_delay_secs) for progress in self._specs)

    @property
    def exporters(self) -> list[str]:
        """The names of all exporters."""
        return [exporter.name for progress in self._specs for exporter in progress.spec.exporters]

    def _round(self, due: Sequence[SpecProgress], step: int, checkpoint: str | None) -> None:
        try:
            evaluated = [(progress, self._evaluate(progress, step, checkpoint)) for progress in due]
            for progress, evaluation in evaluated:
                is_final = bool(self.stop_reason) or (
                    self._max_steps is not None and evaluation.global_step >= self._max_steps
                )
                if is_final and self._observers:
                    progress.pending = evaluation
                else:
                    self._export(progress, evaluation, evaluation.checkpoint_path, is_final)
        except (tf.errors.OutOfRangeError, StopIteration) as error:
            # In a listener, these errors would look like the end of the training data.
            raise NotEvaluated(
                f"train_and_evaluate: the evaluation or an export at step {step} failed with {type(error).__name__}: "
                f"{error} Expected both to come to an end by themselves: evaluate this checkpoint by hand "
                f"(estimator.evaluate) to see where."
            ) from error

    def _evaluate(self, progress: SpecProgress, step: int, path: str | None) -> Evaluation:
        progress.cadence.begin_evaluation(step)
        checkpoint = path or self._estimator.latest_checkpoint()
        self._check_new(checkpoint, progress, step)
        spec = progress.spec
        self._running = f"{progress.name or 'step'} {step:,}", time.monotonic()
        try:
            metrics = self._estimator.evaluate(
                input_fn=spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=checkpoint, hooks=spec.hooks
            )
        finally:
            self._running = None
        _check_metrics(metrics)
        evaluation = Evaluation(progress.name, metrics, int(metrics[GLOBAL_STEP]), str(checkpoint))
        progress.last = evaluation
        self._evaluations.append(evaluation)
        for observer in self._observers:
            reason = observer.after_evaluation(evaluation)
            self.stop_reason = self.stop_reason or reason or ""
        return evaluation

    def _check_new(self, checkpoint: Any, progress: SpecProgress, step: int) -> None:
        if not checkpoint:
            status, problem = EvalStatus.MISSING_CHECKPOINT, f"there is none in model_dir {self._estimator.model_dir}"
        elif progress.last is not None and progress.last.checkpoint_path == checkpoint:
            status, problem = EvalStatus.NO_NEW_CHECKPOINT, f"the newest is {checkpoint}, which was evaluated before"
        else:
            return
        raise NotEvaluated(
            f"train_and_evaluate: There was no new checkpoint after the training. Eval status: {status}. Expected a "
            f"checkpoint of step {step}, for {progress}; {problem}. Does a CheckpointSaverHook of your own save "
            "elsewhere? It has to save to model_dir."
        )

    def _export(self, progress: SpecProgress, evaluation: Evaluation, checkpoint: str, is_final: bool) -> None:
        exporters = progress.spec.exporters
        self.exported_finally = self.exported_finally or is_final
        progress.export_results = export_all(exporters, self._estimator, checkpoint, evaluation.metrics, is_final)
        self._exports.update(zip((exporter.name for exporter in exporters), progress.export_results, strict=True))

    def _evaluation_of(self, checkpoint: str, progress: SpecProgress) -> Evaluation:
        """The evaluation of a checkpoint, which an observer may have restored; else the last one."""
        those = [one for one in self._evaluations if one.name == progress.name]
        for one in reversed(those):
            if one.checkpoint_path == checkpoint or one.global_step == step_of(checkpoint):
                return one
        return those[-1]


def _check_metrics(metrics: Any) -> None:
    if metrics is not None and not isinstance(metrics, Mapping):
        raise WrongType(
            f"train_and_evaluate: `Estimator.evaluate` should return dict. Given {type(metrics)}: {metrics!r}. It was "
            "replaced or overridden; return what the original returns."
        )
    if not metrics:
        raise UsageError(
            "train_and_evaluate: `Estimator.evaluate` should never return empty metrics, got "
            f"{metrics!r}. It was replaced or overridden; return what the original returns."
        )
    if GLOBAL_STEP not in metrics:
        raise UsageError(
            f"train_and_evaluate: `Estimator.evaluate` result should have `global_step` in result. Given {metrics!r}. "
            "It was replaced or overridden; return what the original returns."
        )


def _summary(evaluation: Evaluation) -> str:
    """One evaluation as a line of text."""
    shown = [
        f"{name} {float(value):.4g}"
        for name, value in evaluation.metrics.items()
        if name != GLOBAL_STEP and getattr(value, "ndim", 0) == 0 and not isinstance(value, bytes | str)
    ]
    return f"{evaluation.name or 'step'} {evaluation.global_step:,}: {', '.join(shown)}"
