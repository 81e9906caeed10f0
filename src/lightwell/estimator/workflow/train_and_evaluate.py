"""`train_and_evaluate`: one training, with evaluations and exports at its checkpoints.

It calls `estimator.train` once, so that the input of the training never restarts; a checkpoint listener calls
`estimator.evaluate`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lightwell.base.log import logger
from lightwell.errors import UsageError, WrongType
from lightwell.estimator.arguments import check_place
from lightwell.estimator.core import Estimator
from lightwell.estimator.tracebacks import with_short_traceback
from lightwell.estimator.workflow.cadence import frequency_text
from lightwell.estimator.workflow.exporters import check_names
from lightwell.estimator.workflow.listener import EvaluateCheckpoints
from lightwell.estimator.workflow.observers import EvaluationObserver
from lightwell.estimator.workflow.result import TrainAndEvaluateResult
from lightwell.estimator.workflow.roles import check_role, run_role, trained_step, write_mark
from lightwell.estimator.workflow.rounds import Rounds
from lightwell.estimator.workflow.specs import EvalSpec, TrainSpec
from lightwell.run.checkpoints.finished import mark_begun, mark_finished, was_cut_short

_WHERE = "train_and_evaluate"


@with_short_traceback
def train_and_evaluate(
    estimator: Estimator,
    train_spec: TrainSpec,
    eval_spec: EvalSpec | Sequence[EvalSpec],
    *,
    observers: Sequence[EvaluationObserver] | EvaluationObserver = (),
) -> TrainAndEvaluateResult:
    """Trains, evaluates the checkpoints on the way, and exports.

    The checkpoint of each `RunConfig(save_checkpoints_steps=...)` or `save_checkpoints_secs` is evaluated as soon as it
    is written, unless its `EvalSpec` says less often; the last one always. When it is over, `training_finished.json` in
    `model_dir` marks the end for other processes.

    Where `TF_CONFIG` makes this process one of a cluster, it runs its role: a `chief` or `worker` trains, a `ps`
    serves until the training is over, and then ends the process; an `evaluator` evaluates and exports the checkpoints
    as they come.

    Args:
        estimator: the Estimator.
        train_spec: how to train.
        eval_spec: on what to evaluate, and what to export; or several, each with a name of its own.
        observers: called after each evaluation, in order; they may end the training (`EarlyStopping`) or store the
            best checkpoints (`KeepBest`).

    Returns:
        The result; it unpacks to `(eval_result, export_results)`, both None if nothing was evaluated.

    Raises:
        WrongType: an argument has the wrong type.
        UsageError: specs or exporters share a name; or TF_CONFIG assigns no role to this process.
        NotEvaluated: there was no new checkpoint to evaluate.
    """
    _check_types(estimator, train_spec, eval_spec)
    specs, checked_observers = checked_eval_specs(eval_spec), _checked_observers(observers)
    config = estimator.config
    check_place(_WHERE, config.train_distribute, config)
    check_place("evaluate", config.eval_distribute, config)
    rounds = Rounds(estimator, specs, checked_observers, train_spec.max_steps)
    listener = EvaluateCheckpoints(rounds, lambda: write_mark(estimator, mark_begun))
    if check_role(config):
        return run_role(estimator, train_spec, rounds, checked_observers)
    _log_schedule(config, train_spec, specs)
    for observer in checked_observers:
        observer.begin(estimator)
    estimator.train(
        input_fn=train_spec.input_fn,
        max_steps=train_spec.max_steps,
        hooks=list(train_spec.hooks),
        saving_listeners=(*train_spec.saving_listeners, listener),
    )
    if listener.first_step is None:
        _run_missed_evaluation(estimator, rounds)
    for observer in checked_observers:
        observer.end(estimator)
    rounds.export_pending()
    stopped = _end_reason(listener, rounds.stop_reason, train_spec.max_steps)
    if listener.first_step is not None and rounds.exporters and not rounds.exported_finally:
        _warn_of_no_final_export(rounds.exporters, train_spec.max_steps)
    last_step = trained_step(estimator) if listener.last_step is None else listener.last_step
    if last_step is not None:
        write_mark(estimator, lambda directory: mark_finished(directory, last_step, stopped))
    return rounds.result(stopped)


def checked_eval_specs(argument: Any) -> tuple[EvalSpec, ...]:
    """The argument `eval_spec` as a tuple.

    Raises:
        WrongType: something is no `EvalSpec`.
        UsageError: there is none, or two share a name.
    """
    if isinstance(argument, EvalSpec):
        return (argument,)
    specs = argument if type(argument) in (list, tuple) else None
    wrong = [one for one in specs or () if not isinstance(one, EvalSpec)]
    if specs is None or wrong:
        got = wrong[0] if wrong else argument
        raise WrongType(
            f"{_WHERE}: `eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(got)} {got!r}. Write "
            "EvalSpec(input_fn, steps=None), or a list of them."
        )
    if not specs:
        raise UsageError(
            f"{_WHERE}: `eval_spec` is an empty list. Expected at least one EvalSpec; to train, call train."
        )
    twice = [name for name, count in Counter(one.name or "" for one in specs).items() if count > 1]
    if twice:
        raise UsageError(
            f"{_WHERE}: several EvalSpecs must have names of their own, got {[one.name for one in specs]}. Give "
            f"{twice[0]!r} another name in one of them: events and results are kept apart by it."
        )
    check_names([exporter for one in specs for exporter in one.exporters], _WHERE)
    return tuple(specs)


def assert_eval_spec(eval_spec: Any) -> None:
    """Raises `TypeError` for what is no `EvalSpec`; for programs that import the original's private function."""
    if not isinstance(eval_spec, EvalSpec):
        raise WrongType(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")


def _check_types(estimator: Any, train_spec: Any, eval_spec: Any) -> None:
    if not isinstance(estimator, Estimator):
        raise WrongType(
            f"{_WHERE}: `estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)} {estimator!r}. The "
            "order is (estimator, train_spec, eval_spec)."
        )
    if isinstance(train_spec, EvalSpec) and isinstance(eval_spec, TrainSpec):
        raise WrongType(
            f"{_WHERE}: `eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}, and an EvalSpec as "
            "`train_spec`: they are exchanged. The order is (estimator, train_spec, eval_spec)."
        )
    if not isinstance(train_spec, TrainSpec):
        raise WrongType(
            f"{_WHERE}: `train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)} {train_spec!r}. "
            "Write TrainSpec(input_fn, max_steps=...); the order is (estimator, train_spec, eval_spec)."
        )


def _checked_observers(argument: Any) -> tuple[EvaluationObserver, ...]:
    observers = (argument,) if isinstance(argument, EvaluationObserver) else argument
    if not isinstance(observers, list | tuple):
        raise WrongType(f"{_WHERE}: observers must be a list of EvaluationObserver, got {argument!r}.")
    wrong = [one for one in observers if not isinstance(one, EvaluationObserver)]
    if wrong:
        what = "a class; make an instance of it" if isinstance(wrong[0], type) else f"{type(wrong[0]).__name__}"
        raise WrongType(
            f"{_WHERE}: observers must be a list of EvaluationObserver, got {wrong[0]!r}, {what}. Hooks of the "
            "training belong to TrainSpec(hooks=...), those of the evaluation to EvalSpec(hooks=...)."
        )
    return tuple(observers)


def _log_schedule(config: Any, train_spec: TrainSpec, specs: Sequence[EvalSpec]) -> None:
    logger.info("Running training and evaluation locally (non-distributed).")
    own = [f"{spec.name or 'the evaluation'} {frequency_text(spec)}" for spec in specs]
    logger.info(
        "Start train and evaluate loop. The evaluate will happen %s. Checkpoint frequency is "
        "determined based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
        "; ".join(own)
        if any(spec.every_steps or spec.every_checkpoints for spec in specs)
        else "after every checkpoint",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    if train_spec.max_steps is None:
        logger.info(
            "TrainSpec has no max_steps: training goes on until the data of input_fn ends, or a hook or an observer "
            "stops it. Data that repeats without end is trained on without end."
        )


def _end_reason(listener: EvaluateCheckpoints, stop_reason: str, max_steps: Any) -> str:
    if listener.first_step is None or listener.last_step is None:
        reached = "" if max_steps is None else f": max_steps={max_steps} was reached before"
        return f"Nothing was trained{reached}."
    if stop_reason:
        return stop_reason
    if max_steps is not None and listener.last_step >= max_steps:
        return f"max_steps={max_steps} was reached."
    return f"The training data ended, or a hook or listener asked to stop, at step {listener.last_step}."


def _warn_of_no_final_export(exporters: Sequence[str], max_steps: Any) -> None:
    cause = "TrainSpec has no max_steps" if max_steps is None else f"the training ended before max_steps={max_steps}"
    logger.warning(
        "%s: the exporters %s were never called with is_the_final_export=True, because %s; a FinalExporter has "
        "exported nothing. Set TrainSpec(max_steps=...) to a step that the data reach, or export yourself afterwards.",
        _WHERE,
        exporters,
        cause,
    )


def _run_missed_evaluation(estimator: Estimator, rounds: Rounds) -> None:
    """Evaluates and exports if nothing is left to train, but an earlier run was killed before it did."""
    step = trained_step(estimator)
    if step is not None and was_cut_short(estimator.model_dir):
        logger.info(
            "An earlier train_and_evaluate did not come to its end: the checkpoint of step %d is evaluated.", step
        )
        rounds.at_the_end(step)
