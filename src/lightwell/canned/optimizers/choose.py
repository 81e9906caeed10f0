"""Which optimizer a canned model trains with.

Owns `optimizer_for`. Takes what a user gave: a name, an optimizer of any make, a function that makes one. Gives an
optimizer for the graph that is built now.
"""

from __future__ import annotations

import copy
import difflib
from typing import Any

import tensorflow as tf

from lightwell._names import Face
from lightwell.callables import arguments_of
from lightwell.canned.optimizers.adagrad import Adagrad
from lightwell.canned.optimizers.adam import Adam
from lightwell.canned.optimizers.base import training_scope
from lightwell.canned.optimizers.from_keras3 import as_rule
from lightwell.canned.optimizers.ftrl import Ftrl
from lightwell.canned.optimizers.rmsprop import RMSprop
from lightwell.canned.optimizers.sgd import SGD
from lightwell.errors import UsageError, WrongKind
from lightwell.interop.keras_scope import is_keras_optimizer
from lightwell.optimizers import minimize

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


def check_optimizer(given: Any, where: str, argument: str = "optimizer", face: Face = "v2") -> None:
    """Refuses what can never be an optimizer, before anything is built.

    Raises:
        UsageError: an unknown name, or something that is neither a name nor an optimizer nor a function.
    """
    if isinstance(given, str):
        if given not in NAMES:
            close = difflib.get_close_matches(given, NAMES, n=1, cutoff=0.5) or [
                name for name in NAMES if name.lower() == given.lower()
            ]
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise UsageError(
                f"{where}: Unsupported optimizer name: {given}. Supported names are: {NAMES}.{meant} For another one, "
                f"pass {argument} an optimizer, or a function that makes one."
            )
    elif not is_optimizer(given) and not (callable(given) and not arguments_of(given).required):
        kind = WrongKind if callable(given) else UsageError
        raise kind(_no_optimizer(given, where, argument, face))


def optimizer_for(face: Face, given: Any, where: str, *, rate: float | None = None, argument: str = "optimizer") -> Any:
    """The optimizer for the graph that is built now.

    Args:
        face: whose names count.
        given: a name, an optimizer of `tf.compat.v1.train`, Keras 3 or `tf_keras`, or a function without arguments that
            gives an optimizer.
        where: the model, for errors.
        rate: the learning rate that goes with a name; the optimizer's own if None.
        argument: what the user calls it.

    Raises:
        UsageError: it is none of these.
    """
    check_optimizer(given, where, argument, face)
    if isinstance(given, str):
        made: Any = (_BY_NAME_V1 if face == "v1" else _BY_NAME)[given]
        return made() if rate is None else made(learning_rate=rate)
    if not is_optimizer(given):
        given = given()
        if not is_optimizer(given):
            raise UsageError(_no_optimizer(given, where, f"by {argument}()", face))
    if is_keras_optimizer(given):
        return as_rule(given) or given
    # It keeps the variables of each graph that it works in: so this graph gets a copy.
    return copy.copy(given)


def step_by(optimizer: Any, loss: Any, var_list: Any = None, global_step: Any = None) -> Any:
    """The op of a step by an optimizer from `optimizer_for`; see `minimize`.

    One of `tf_keras` names its state after the scope that it works in, which is not that of the model.
    """
    if not is_keras_optimizer(optimizer):
        return minimize(optimizer, loss, var_list, global_step)
    with tf.name_scope(training_scope()):
        return minimize(optimizer, loss, var_list, global_step)


def is_optimizer(given: Any) -> bool:
    """Whether it is an optimizer of any make."""
    is_class = isinstance(given, type)  # one that can be called gives an optimizer, and is none
    return not is_class and (is_keras_optimizer(given) or callable(getattr(given, "apply_gradients", None)))


def _no_optimizer(given: Any, where: str, what: str, face: Face) -> str:
    expected = "an Optimizer" if face == "v1" else "a tf.keras.optimizers.Optimizer"
    needed = sorted(arguments_of(given).required) if callable(given) else []
    called = f" It cannot be called without {needed}: write lambda: ... around it." if needed else ""
    return (
        f"{where}: The given object is not {expected} instance. Given: {given!r} (a {type(given).__name__}), {what}."
        f"{called} Pass one of the names {NAMES}, an optimizer of keras.optimizers or tf.compat.v1.train, or a "
        "function without arguments that gives one."
    )
