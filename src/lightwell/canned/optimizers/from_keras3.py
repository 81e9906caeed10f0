"""An optimizer of Keras 3 as the one of the same name in Keras 2, which `tf.estimator` knew.

Programs write `tf.keras.optimizers.Adam(0.01)`, and their checkpoints hold the state of Keras 2's. Where both can say
the same, it is that one here: the numbers are the old ones, and old checkpoints go on.
"""

from __future__ import annotations

from typing import Any

from lightwell.canned.optimizers.adagrad import Adagrad
from lightwell.canned.optimizers.adam import Adam
from lightwell.canned.optimizers.base import Rule
from lightwell.canned.optimizers.ftrl import Ftrl
from lightwell.canned.optimizers.rmsprop import RMSprop
from lightwell.canned.optimizers.sgd import SGD
from lightwell.interop import doors
from lightwell.interop.initial_values import outside_the_graph
from lightwell.layers.naming import snake_case

_KINDS = {"Adagrad": Adagrad, "Adam": Adam, "Ftrl": Ftrl, "RMSprop": RMSprop, "SGD": SGD}
# What only Keras 3 has, and the value that asks for nothing.
_NEW = {
    "weight_decay": None,
    "clipnorm": None,
    "global_clipnorm": None,
    "clipvalue": None,
    "use_ema": False,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}
_WITHOUT_EFFECT = {"ema_momentum", "ema_overwrite_frequency"}


def as_rule(optimizer: Any) -> Rule | None:
    """The rule that says the same as an optimizer of Keras 3, or a legacy one of `tf_keras`; None if there is none."""
    return _of_keras3(optimizer) or _of_legacy(optimizer)


def _of_legacy(optimizer: Any) -> Rule | None:
    """`tf_keras.optimizers.legacy.Adam(0.01)`: the very optimizer that `tf.estimator` was given."""
    keras, kind = doors.legacy_keras(), type(optimizer).__name__
    legacy = getattr(getattr(keras, "optimizers", None), "legacy", None)
    if legacy is None or kind not in _KINDS or type(optimizer) is not getattr(legacy, kind, None):
        return None
    settings = outside_the_graph(optimizer.get_config)
    if not isinstance(settings.get("learning_rate"), int | float):
        return None
    try:
        return _KINDS[kind](**settings)
    except TypeError:  # it clips gradients, for one
        return None


def _of_keras3(optimizer: Any) -> Rule | None:
    keras, kind = doors.keras3(), type(optimizer).__name__
    if keras is None or kind not in _KINDS or type(optimizer) is not getattr(keras.optimizers, kind, None):
        return None
    settings = outside_the_graph(lambda: doors.optimizer_settings(optimizer))
    if any(settings.pop(name, idle) != idle for name, idle in _NEW.items()):
        return None
    name = settings.pop("name", "")
    given = {key: value for key, value in settings.items() if key not in _WITHOUT_EFFECT}
    is_numbered = name.rstrip("0123456789").rstrip("_") == snake_case(kind)
    try:
        return _KINDS[kind](name=kind if is_numbered else name, **given)
    except TypeError:  # a setting of a later Keras
        return None
