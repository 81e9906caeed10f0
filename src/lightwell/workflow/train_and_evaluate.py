"""`train_and_evaluate`: one training, with evaluations and exports at its checkpoints.

Takes an Estimator and specs; gives a `TrainAndEvaluateResult`. It calls `estimator.train` once: the training's input is
never begun anew, and evaluations happen in a checkpoint listener, by `estimator.evaluate`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lightwell.checkpoints.finished import mark_begun, mark_finished, was_cut_short
from lightwell.errors import UsageError, WrongType
from lightwell.estimator.arguments import check_place
from lightwell.estimator.core import Estimator
from lightwell.estimator.tracebacks import brief
from lightwell.log import logger
from lightwell.workflow.cadence import often
from lightwell.workflow.exporters import check_names
from lightwell.workflow.listener import EvaluateCheckpoints
from lightwell.workflow.observers import EvaluationObserver
from lightwell.workflow.result import TrainAndEvaluateResult
from lightwell.workflow.roles import check_role, leave_mark, play, trained_step
from lightwell.workflow.rounds import Rounds
from lightwell.workflow.specs import EvalSpec, TrainSpec

_WHERE = "train_and_evaluate"


@brief
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
    `model_dir` tells whoever waits there.

    Where `TF_CONFIG` makes this process one of a cluster, it plays its part: a `chief` or `worker` trains, a `ps`
    serves until the training is over, and then ends the process; an `evaluator` evaluates and exports the checkpoints
    as they come.

    Args:
        estimator: the Estimator.
        train_spec: how to train.
        eval_spec: on what to evaluate, and what to export; or several, each with a name of its own.
        observers: told of each evaluation, in order; they may end the training (`EarlyStopping`) or keep what is good
            (`KeepBest`).

    Returns:
        What came of it; it unpacks to `(eval_result, export_results)`, both None if nothing was evaluated.

    Raises:
        WrongType: an argument has the wrong type.
        UsageError: specs or exporters share a name; or TF_CONFIG gives this process no part in it.
        NotEvaluated: there was no new checkpoint to evaluate.
    """
    _check_types(estimator, train_spec, eval_spec)
    specs, told = checked_eval_specs(eval_spec), _checked_observers(observers)
    config = estimator.config
    check_place(_WHERE, config.train_distribute, config)
    check_place("evaluate", config.eval_distribute, config)
    rounds = Rounds(estimator, specs, told, train_spec.max_steps)
    evaluates = EvaluateCheckpoints(rounds, lambda: leave_mark(estimator, mark_begun))
    if check_role(config):
        return play(estimator, train_spec, rounds, told)
    _say_what_comes(config, train_spec, specs)
    for observer in told:
        observer.begin(estimator)
    estimator.train(
        input_fn=train_spec.input_fn,
        max_steps=train_spec.max_steps,
        hooks=list(train_spec.hooks),
        saving_listeners=(*train_spec.saving_listeners, evaluates),
    )
    if evaluates.first_step is None:
        _make_up_for_the_last_evaluation(estimator, rounds)
    for observer in told:
        observer.end(estimator)
    rounds.export_what_was_held()
    stopped = _why_it_ended(evaluates, rounds.stop_reason, train_spec.max_steps)
    if evaluates.first_step is not None and rounds.exporters and not rounds.exported_finally:
        _warn_of_no_final_export(rounds.exporters, train_spec.max_steps)
    last_step = trained_step(estimator) if evaluates.last_step is None else evaluates.last_step
    if last_step is not None:
        leave_mark(estimator, lambda directory: mark_finished(directory, last_step, stopped))
    return rounds.result(stopped)


def checked_eval_specs(given: Any) -> tuple[EvalSpec, ...]:
    """The specs that `train_and_evaluate` was given, one or several.

    Raises:
        WrongType: something is no `EvalSpec`.
        UsageError: there is none, or two cannot be told apart.
    """
    if isinstance(given, EvalSpec):
        return (given,)
    specs = given if type(given) in (list, tuple) else None
    wrong = [one for one in specs or () if not isinstance(one, EvalSpec)]
    if specs is None or wrong:
        got = wrong[0] if wrong else given
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


def _checked_observers(given: Any) -> tuple[EvaluationObserver, ...]:
    observers = (given,) if isinstance(given, EvaluationObserver) else given
    if not isinstance(observers, list | tuple):
        raise WrongType(f"{_WHERE}: observers must be a list of EvaluationObserver, got {given!r}.")
    wrong = [one for one in observers if not isinstance(one, EvaluationObserver)]
    if wrong:
        what = "a class; make an instance of it" if isinstance(wrong[0], type) else f"{type(wrong[0]).__name__}"
        raise WrongType(
            f"{_WHERE}: observers must be a list of EvaluationObserver, got {wrong[0]!r}, {what}. Hooks of the "
            "training belong to TrainSpec(hooks=...), those of the evaluation to EvalSpec(hooks=...)."
        )
    return tuple(observers)


def _say_what_comes(config: Any, train_spec: TrainSpec, specs: Sequence[EvalSpec]) -> None:
    logger.info("Running training and evaluation locally (non-distributed).")
    own = [f"{spec.name or 'the evaluation'} {often(spec)}" for spec in specs]
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


def _why_it_ended(evaluates: EvaluateCheckpoints, stop_reason: str, max_steps: Any) -> str:
    if evaluates.first_step is None or evaluates.last_step is None:
        reached = "" if max_steps is None else f": max_steps={max_steps} was reached before"
        return f"Nothing was trained{reached}."
    if stop_reason:
        return stop_reason
    if max_steps is not None and evaluates.last_step >= max_steps:
        return f"max_steps={max_steps} was reached."
    return f"The training data ended, or a hook or listener asked to stop, at step {evaluates.last_step}."


def _warn_of_no_final_export(exporters: Sequence[str], max_steps: Any) -> None:
    cause = "TrainSpec has no max_steps" if max_steps is None else f"the training ended before max_steps={max_steps}"
    logger.warning(
        "%s: the exporters %s were never called with is_the_final_export=True, because %s; a FinalExporter has "
        "exported nothing. Set TrainSpec(max_steps=...) to a step that the data reach, or export yourself afterwards.",
        _WHERE,
        exporters,
        cause,
    )


def _make_up_for_the_last_evaluation(estimator: Estimator, rounds: Rounds) -> None:
    """Evaluates and exports where there is nothing left to train, but an earlier run was killed before it did."""
    step = trained_step(estimator)
    if step is not None and was_cut_short(estimator.model_dir):
        logger.info(
            "An earlier train_and_evaluate did not come to its end: the checkpoint of step %d is evaluated.", step
        )
        rounds.at_the_end(step)
