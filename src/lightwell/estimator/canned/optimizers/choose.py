"""The optimizer of a canned model, from the argument of the user.

The argument is a name, an optimizer of any Keras or `tf.compat.v1.train`, or a function that returns one.
"""

from __future__ import annotations

import copy
import difflib
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of
from lightwell.base.public_names import Face
from lightwell.errors import UsageError, WrongKind
from lightwell.estimator.canned.optimizers.adagrad import Adagrad
from lightwell.estimator.canned.optimizers.adam import Adam
from lightwell.estimator.canned.optimizers.base import training_scope
from lightwell.estimator.canned.optimizers.from_keras3 import as_rule
from lightwell.estimator.canned.optimizers.ftrl import Ftrl
from lightwell.estimator.canned.optimizers.rmsprop import RMSprop
from lightwell.estimator.canned.optimizers.sgd import SGD
from lightwell.model.interop.keras_scope import is_keras_optimizer
from lightwell.model.optimizers import minimize

_train = tf.compat.v1.train
_BY_NAME = {"Adagrad": Adagrad, "Adam": Adam, "Ftrl": Ftrl, "RMSProp": RMSprop, "SGD": SGD}
_BY_NAME_V1 = {
    "Adagrad": _train.AdagradOptimizer,
    "Adam": _train.AdamOptimizer,
    "Ftrl": _train.FtrlOptimizer,
    "RMSProp": _train.RMSPropOptimizer,
    "SGD": _train.GradientDescentOptimizer,
}
NAMES = tuple(_BY_NAME)


def check_optimizer(optimizer: Any, where: str, argument: str = "optimizer", face: Face = "v2") -> None:
    """Refuses an invalid optimizer, before anything is built.

    Raises:
        UsageError: an unknown name, or something that is neither a name nor an optimizer nor a function.
    """
    if isinstance(optimizer, str):
        if optimizer not in NAMES:
            close = difflib.get_close_matches(optimizer, NAMES, n=1, cutoff=0.5) or [
                name for name in NAMES if name.lower() == optimizer.lower()
            ]
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise UsageError(
                f"{where}: Unsupported optimizer name: {optimizer}. Supported names are: {NAMES}.{hint} For another "
                f"one, pass {argument} an optimizer, or a function that makes one."
            )
    elif not is_optimizer(optimizer) and not (callable(optimizer) and not arguments_of(optimizer).required):
        kind = WrongKind if callable(optimizer) else UsageError
        raise kind(_no_optimizer(optimizer, where, argument, face))


def optimizer_for(
    face: Face, optimizer: Any, where: str, *, rate: float | None = None, argument: str = "optimizer"
) -> Any:
    """The optimizer for the graph that is built now.

    Args:
        face: the face whose names count.
        optimizer: a name, an optimizer of `tf.compat.v1.train`, Keras 3 or `tf_keras`, or a function without arguments
            that returns an optimizer.
        where: the model, for errors.
        rate: the learning rate that goes with a name; the optimizer's own if None.
        argument: the name of the argument, for errors.

    Raises:
        UsageError: it is none of these.
    """
    check_optimizer(optimizer, where, argument, face)
    if isinstance(optimizer, str):
        optimizer_class: Any = (_BY_NAME_V1 if face == "v1" else _BY_NAME)[optimizer]
        return optimizer_class() if rate is None else optimizer_class(learning_rate=rate)
    if not is_optimizer(optimizer):
        optimizer = optimizer()
        if not is_optimizer(optimizer):
            raise UsageError(_no_optimizer(optimizer, where, f"by {argument}()", face))
    if is_keras_optimizer(optimizer):
        return as_rule(optimizer) or optimizer
    # An optimizer stores the variables of each graph, so each graph gets a copy.
    return copy.copy(optimizer)


def step_by(optimizer: Any, loss: Any, var_list: Any = None, global_step: Any = None) -> Any:
    """The op of a step by an optimizer from `optimizer_for`; see `minimize`.

    An optimizer of `tf_keras` names its state after the current scope, which is not that of the model.
    """
    if not is_keras_optimizer(optimizer):
        return minimize(optimizer, loss, var_list, global_step)
    with tf.name_scope(training_scope()):
        return minimize(optimizer, loss, var_list, global_step)


def is_optimizer(optimizer: Any) -> bool:
    """Whether it is an optimizer of any make."""
    is_class = isinstance(optimizer, type)  # a class is called to get an optimizer
    return not is_class and (is_keras_optimizer(optimizer) or callable(getattr(optimizer, "apply_gradients", None)))


def _no_optimizer(optimizer: Any, where: str, what: str, face: Face) -> str:
    expected = "an Optimizer" if face == "v1" else "a tf.keras.optimizers.Optimizer"
    needed = sorted(arguments_of(optimizer).required) if callable(optimizer) else []
    called = f" It cannot be called without {needed}: write lambda: ... around it." if needed else ""
    return (
        f"{where}: The given object is not {expected} instance. Given: {optimizer!r} (a {type(optimizer).__name__}), "
        f"{what}.{called} Pass one of the names {NAMES}, an optimizer of keras.optimizers or tf.compat.v1.train, or a "
        "function without arguments that gives one."
    )
