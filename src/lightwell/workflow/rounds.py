"""Evaluations in the course of a training: each `EvalSpec` in its turn, observers told, exporters called.

Owns `Rounds`. It takes a checkpoint that was just written, by way of the Estimator's own verbs, and keeps what came of
it. What is evaluated, exported and told happens in the order in which `tf.estimator` did it locally.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.index import step_of
from lightwell.errors import NotEvaluated, UsageError, WrongType
from lightwell.keys import GLOBAL_STEP
from lightwell.log import logger
from lightwell.workflow.cadence import Cadence
from lightwell.workflow.exporters import export_all
from lightwell.workflow.observers import Evaluation, EvaluationObserver
from lightwell.workflow.result import TrainAndEvaluateResult
from lightwell.workflow.specs import EvalSpec


class EvalStatus:
    """Whether there was something to evaluate, in the words of `tf.estimator`."""

    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


class Turn:
    """One `EvalSpec` in the course of a training.

    Attributes:
        spec: the spec.
        name: its name; empty where it has none.
        cadence: which checkpoints it wants.
        last: its last evaluation.
        export_results: what its exporters returned after that.
        held: an evaluation whose exports, the final ones, wait for the end of the training.
    """

    def __init__(self, spec: EvalSpec, first_step: int) -> None:
        self.spec = spec
        self.name = spec.name or ""
        self.cadence = Cadence(spec, first_step)
        self.last: Evaluation | None = None
        self.export_results: list[Any] | None = None
        self.held: Evaluation | None = None

    def __str__(self) -> str:
        return f"evaluation {self.name!r}" if self.name else "the evaluation"

    def say_skipped(self, step: int, reason: str) -> None:
        """Says why a checkpoint is not evaluated."""
        of = f", evaluation {self.name!r}" if self.name else ""
        logger.info("Skip the current checkpoint eval %s. Step %d%s.", reason, step, of)


class Rounds:
    """All evaluations of one `train_and_evaluate`.

    Args:
        estimator: the Estimator.
        specs: its `EvalSpec`s.
        observers: told of each evaluation.
        max_steps: the goal of the training.

    Attributes:
        stop_reason: why an observer wants the training to stop; empty while none does.
        exported_finally: whether exporters were called for the last time.
    """

    def __init__(
        self, estimator: Any, specs: Sequence[EvalSpec], observers: Sequence[EvaluationObserver], max_steps: Any
    ) -> None:
        self._estimator, self._observers, self._max_steps = estimator, observers, max_steps
        self._turns = [Turn(spec, 0) for spec in specs]
        self._evaluations: list[Evaluation] = []
        self._exports: dict[str, Any] = {}
        self._running: tuple[str, float] | None = None
        self.stop_reason = ""
        self.exported_finally = False

    def begin(self, first_step: int) -> None:
        """Told where the training begins, which is not worth an evaluation."""
        self._turns = [Turn(turn.spec, first_step) for turn in self._turns]
        for turn in self._turns:
            turn.say_skipped(first_step, "as the training has yet to make its first step")

    def next_save(self, step: int) -> int:
        """The first step after `step` that needs a checkpoint."""
        return min(turn.cadence.next_save(step) for turn in self._turns)

    def seconds_left(self) -> float:
        """How long it is until a spec wants a new checkpoint; nothing for those that go by steps or checkpoints."""
        return min(turn.cadence.seconds_left() for turn in self._turns)

    def after_checkpoint(self, step: int, checkpoint: str | None = None) -> None:
        """Evaluates a checkpoint, the newest if none is named, for each spec that wants it; the others say why not."""
        due = []
        for turn in self._turns:
            reason = turn.cadence.why_not(step)
            if reason is None:
                due.append(turn)
            else:
                turn.say_skipped(step, reason)
        self._round(due, step, checkpoint)

    def at_the_end(self, step: int, checkpoint: str | None = None) -> None:
        """Evaluates the last checkpoint for each spec that has not."""
        self._round([turn for turn in self._turns if not turn.cadence.is_done(step)], step, checkpoint)

    def export_what_was_held(self) -> None:
        """Makes the final exports, where observers had to see the end of the training first."""
        for turn in self._turns:
            if turn.held is not None:
                checkpoint = self._estimator.latest_checkpoint() or turn.held.checkpoint_path
                self._export(turn, self._evaluation_of(checkpoint, turn), checkpoint, is_final=True)
                turn.held = None

    def progress_note(self) -> str:
        """What is being evaluated, and what the last evaluation of each spec gave."""
        running = self._running  # asked by the thread that draws
        now = [] if running is None else [f"{running[0]}: running {time.monotonic() - running[1]:.0f} s"]
        told = [*now, *(_told(turn.last) for turn in self._turns if turn.last is not None)]
        return f"eval  {' | '.join(told)}" if told else ""

    def result(self, stopped: str) -> TrainAndEvaluateResult:
        """All of it as a value."""
        first = self._turns[0]
        return TrainAndEvaluateResult.of(first.name, self._evaluations, first.export_results, self._exports, stopped)

    @property
    def start_delay(self) -> float:
        """For how many seconds the first evaluation of a training elsewhere waits."""
        return min(float(turn.spec.start_delay_secs) for turn in self._turns)

    @property
    def exporters(self) -> list[str]:
        """The names of all exporters."""
        return [exporter.name for turn in self._turns for exporter in turn.spec.exporters]

    def _round(self, due: Sequence[Turn], step: int, checkpoint: str | None) -> None:
        try:
            evaluated = [(turn, self._evaluate(turn, step, checkpoint)) for turn in due]
            for turn, evaluation in evaluated:
                is_final = bool(self.stop_reason) or (
                    self._max_steps is not None and evaluation.global_step >= self._max_steps
                )
                if is_final and self._observers:
                    turn.held = evaluation
                else:
                    self._export(turn, evaluation, evaluation.checkpoint_path, is_final)
        except (tf.errors.OutOfRangeError, StopIteration) as error:
            # A training that is told this by a listener takes it for the end of its own data.
            raise NotEvaluated(
                f"train_and_evaluate: the evaluation or an export at step {step} failed with {type(error).__name__}: "
                f"{error} Expected both to come to an end by themselves: evaluate this checkpoint by hand "
                f"(estimator.evaluate) to see where."
            ) from error

    def _evaluate(self, turn: Turn, step: int, named: str | None) -> Evaluation:
        turn.cadence.evaluates(step)
        checkpoint = named or self._estimator.latest_checkpoint()
        self._check_new(checkpoint, turn, step)
        spec = turn.spec
        self._running = f"{turn.name or 'step'} {step:,}", time.monotonic()
        try:
            metrics = self._estimator.evaluate(
                input_fn=spec.input_fn, steps=spec.steps, name=spec.name, checkpoint_path=checkpoint, hooks=spec.hooks
            )
        finally:
            self._running = None
        _check_metrics(metrics)
        evaluation = Evaluation(turn.name, metrics, int(metrics[GLOBAL_STEP]), str(checkpoint))
        turn.last = evaluation
        self._evaluations.append(evaluation)
        for observer in self._observers:
            reason = observer.after_evaluation(evaluation)
            self.stop_reason = self.stop_reason or reason or ""
        return evaluation

    def _check_new(self, checkpoint: Any, turn: Turn, step: int) -> None:
        if not checkpoint:
            status, found = EvalStatus.MISSING_CHECKPOINT, f"there is none in model_dir {self._estimator.model_dir}"
        elif turn.last is not None and turn.last.checkpoint_path == checkpoint:
            status, found = EvalStatus.NO_NEW_CHECKPOINT, f"the newest is {checkpoint}, which was evaluated before"
        else:
            return
        raise NotEvaluated(
            f"train_and_evaluate: There was no new checkpoint after the training. Eval status: {status}. Expected a "
            f"checkpoint of step {step}, for {turn}; {found}. Does a CheckpointSaverHook of your own save elsewhere? "
            "It has to save to model_dir."
        )

    def _export(self, turn: Turn, evaluation: Evaluation, checkpoint: str, is_final: bool) -> None:
        exporters = turn.spec.exporters
        self.exported_finally = self.exported_finally or is_final
        turn.export_results = export_all(exporters, self._estimator, checkpoint, evaluation.metrics, is_final)
        self._exports.update(zip((exporter.name for exporter in exporters), turn.export_results, strict=True))

    def _evaluation_of(self, checkpoint: str, turn: Turn) -> Evaluation:
        """The evaluation of a checkpoint that an observer may have put back; else the last one."""
        those = [one for one in self._evaluations if one.name == turn.name]
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


def _told(evaluation: Evaluation) -> str:
    """One evaluation in a line."""
    shown = [
        f"{name} {float(value):.4g}"
        for name, value in evaluation.metrics.items()
        if name != GLOBAL_STEP and getattr(value, "ndim", 0) == 0 and not isinstance(value, bytes | str)
    ]
    return f"{evaluation.name or 'step'} {evaluation.global_step:,}: {', '.join(shown)}"
