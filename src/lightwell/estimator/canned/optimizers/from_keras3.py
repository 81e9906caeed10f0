"""An optimizer of Keras 3 as the one of the same name in Keras 2, which `tf.estimator` knew.

Programs write `tf.keras.optimizers.Adam(0.01)`, and their checkpoints have the state of Keras 2. If the settings exist
in Keras 2, its optimizer is used: results are the same as before, and old checkpoints can be resumed.
"""

from __future__ import annotations

from typing import Any

from lightwell.estimator.canned.optimizers.adagrad import Adagrad
from lightwell.estimator.canned.optimizers.adam import Adam
from lightwell.estimator.canned.optimizers.base import Rule
from lightwell.estimator.canned.optimizers.ftrl import Ftrl
from lightwell.estimator.canned.optimizers.rmsprop import RMSprop
from lightwell.estimator.canned.optimizers.sgd import SGD
from lightwell.foreign import private_keras
from lightwell.model.interop.initial_values import outside_the_graph
from lightwell.model.layers.naming import snake_case

_KINDS = {"Adagrad": Adagrad, "Adam": Adam, "Ftrl": Ftrl, "RMSprop": RMSprop, "SGD": SGD}
# Settings that only Keras 3 has, with the value that switches them off.
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
    """`tf_keras.optimizers.legacy.Adam(0.01)`: the optimizer that programs for `tf.estimator` use."""
    keras, kind = private_keras.legacy_keras(), type(optimizer).__name__
    legacy = getattr(getattr(keras, "optimizers", None), "legacy", None)
    if legacy is None or kind not in _KINDS or type(optimizer) is not getattr(legacy, kind, None):
        return None
    settings = outside_the_graph(optimizer.get_config)
    if not isinstance(settings.get("learning_rate"), int | float):
        return None
    try:
        return _KINDS[kind](**settings)
    except TypeError:  # for example, it clips gradients
        return None


def _of_keras3(optimizer: Any) -> Rule | None:
    keras, kind = private_keras.keras3(), type(optimizer).__name__
    if keras is None or kind not in _KINDS or type(optimizer) is not getattr(keras.optimizers, kind, None):
        return None
    settings = outside_the_graph(lambda: private_keras.optimizer_settings(optimizer))
    if any(settings.pop(name, idle) != idle for name, idle in _NEW.items()):
        return None
    name = settings.pop("name", "")
    arguments = {key: value for key, value in settings.items() if key not in _WITHOUT_EFFECT}
    is_numbered = name.rstrip("0123456789").rstrip("_") == snake_case(kind)
    try:
        return _KINDS[kind](name=kind if is_numbered else name, **arguments)
    except TypeError:  # a setting of a later Keras
        return None
