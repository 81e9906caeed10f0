"""Validates the arguments of an `Estimator` and its verbs, before anything is built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from lightwell.base.callables import arguments_of, name_of
from lightwell.base.log import logger
from lightwell.errors import ModelFnError, UsageError, WrongType
from lightwell.run.cluster import EVALUATOR, PS
from lightwell.run.config import RunConfig

if TYPE_CHECKING:
    from lightwell.run.engine.train import Goal

_MODEL_FN_ARGUMENTS = ("features", "labels", "mode", "params", "config")


_EXPECTED = "Expected a function (features, labels, mode, params, config) that returns an EstimatorSpec"


def check_model_fn(model_fn: Any, params: Any) -> None:
    """Checks that `model_fn` can be called the way an Estimator calls it.

    Raises:
        ModelFnError: it is None, or its arguments do not fit.
        WrongType: it is no function.
    """
    if model_fn is None:
        raise ModelFnError(f"Estimator: model_fn must be provided to Estimator, got None. {_EXPECTED}.")
    if not callable(model_fn):
        raise WrongType(
            f"Estimator: model_fn must be a function, got {type(model_fn).__name__} {model_fn!r}. {_EXPECTED}."
        )
    takes, name = arguments_of(model_fn), name_of(model_fn)
    if not takes.accepts("features") and not takes.has_kwargs:
        raise ModelFnError(
            f"model_fn {name!r} must include features argument; it takes {list(takes.names)}. {_EXPECTED}; all but "
            "features may be left out."
        )
    if params is not None and not takes.accepts("params") and not takes.has_kwargs:
        raise ModelFnError(
            f"model_fn {name!r} does not include params argument, but params ({params!r}) is passed to Estimator. "
            "Add an argument `params`, or leave params out."
        )
    if params is None and "params" in takes.required:
        logger.warning("model_fn %r includes params argument, but params are not passed to Estimator.", name)
    unknown = sorted(set(takes.names) - set(_MODEL_FN_ARGUMENTS) - {"self"})
    if unknown:
        raise ModelFnError(
            f"model_fn {name!r} has following not expected args: {unknown}. An Estimator gives it "
            f"{list(_MODEL_FN_ARGUMENTS)}; bind others with functools.partial, or read them from params."
        )


def checked_goal(steps: Any, max_steps: Any) -> Goal:
    """The goal of a training, from the arguments of `train`."""
    from lightwell.run.engine.train import Goal

    if steps is not None and max_steps is not None:
        raise UsageError(
            f"train: Can not provide both steps and max_steps, got steps={steps} and max_steps={max_steps}. "
            "Leave one out: `steps` trains so many more, `max_steps` up to that step."
        )
    return Goal(checked_steps("train", steps), checked_steps("train", max_steps, "max_steps"))


def check_steps(what: str, steps: Any) -> None:
    """Checks a number of steps; `what` is the argument's name."""
    if steps is None:
        return
    if isinstance(steps, bool) or not isinstance(steps, int | float | np.integer | np.floating):
        raise WrongType(f"{what} must be a number, got {type(steps).__name__} {steps!r}.")
    if steps <= 0:
        raise UsageError(f"Must specify {what} > 0, given: {steps}. Leave it out to go to the end of the data.")


def checked_steps(verb: str, steps: Any, what: str = "steps") -> int | None:
    """The number of steps as an int; None, for all of the data, also if `steps` is infinite.

    A fraction, usually from a division, is rounded up, as in `tf.estimator`, with a warning.
    """
    check_steps(what, steps)
    if steps is None or steps == math.inf:
        return None
    if math.isnan(steps):
        raise UsageError(f"{verb}: Must specify {what} > 0, given: {steps}. Leave it out to go to the end of the data.")
    whole = math.ceil(steps)
    if whole != steps:
        logger.warning("%s: %s=%s is no whole number: it is taken as %d.", verb, what, steps, whole)
    return whole


def check_place(doing: str, strategy: Any, config: RunConfig) -> None:
    """Checks that a verb can run in this process with this strategy; the only such check.

    Raises:
        UsageError: it cannot; the text names the process that can.
    """
    if strategy is not None:
        from lightwell.run.devices.strategies import check_strategy

        check_strategy(doing, strategy, config)
    if doing == "train" and config.task_type in (PS, EVALUATOR):
        raise UsageError(
            f"train: Train has been called wrong configuration: TF_CONFIG makes this process a {config.task_type!r}, "
            "and only a chief or a worker trains. Please use tf.estimator.train_and_evaluate, which calls the proper "
            "verb on each task; or call evaluate here, and train on the chief."
        )


def warn_of_one_device(verb: str, config: RunConfig) -> None:
    """Warns that a verb which yields rows in the order of the data ignores `eval_distribute`."""
    if config.eval_distribute is None:
        return
    from lightwell.run.devices.strategies import replicas_here

    replicas = replicas_here(config.eval_distribute)
    if replicas > 1:
        logger.warning(
            "%s: runs on one device. The %d replicas of RunConfig.eval_distribute share evaluations: evaluate, ablate, "
            "over_checkpoints, in-memory evaluations.",
            verb,
            replicas,
        )


def checked_listeners(listeners: Sequence[Any] | None) -> tuple[Any, ...]:
    """The saving listeners of `train`, as a tuple."""
    base = tf.compat.v1.train.CheckpointSaverListener
    if listeners is not None and not isinstance(listeners, list | tuple):
        raise WrongType(f"train: saving_listeners must be a list of CheckpointSaverListener, given: {listeners!r}.")
    for listener in listeners or ():
        if not isinstance(listener, base):
            raise WrongType(f"train: saving_listeners must be a list of CheckpointSaverListener, given: {listener!r}.")
    return tuple(listeners or ())
