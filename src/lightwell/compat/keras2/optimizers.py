"""Optimizers of Keras 2: `tf.keras.optimizers.legacy`, and the arguments `lr`, `decay` and `epsilon=None`.

The optimizers of Keras 3 make the same steps as the legacy ones, to the last digits of float32, but for Nadam, whose
momentum schedule is another one. `legacy_class` makes classes with the order of arguments of Keras 2.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import tensorflow as tf

from lightwell.compat.keras2.arguments import Set
from lightwell.compat.keras2.callers import is_program_calling
from lightwell.foreign import private_keras, private_keras2

# The order of arguments of tf.keras.optimizers.legacy, in TensorFlow 2.15.
_ORDER = {
    "Adadelta": ("learning_rate", "rho", "epsilon", "name"),
    "Adagrad": ("learning_rate", "initial_accumulator_value", "epsilon", "name"),
    "Adam": ("learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad", "name"),
    "Adamax": ("learning_rate", "beta_1", "beta_2", "epsilon", "name"),
    "Ftrl": (
        "learning_rate",
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "name",
        "l2_shrinkage_regularization_strength",
        "beta",
    ),
    "Nadam": ("learning_rate", "beta_1", "beta_2", "epsilon", "name"),
    "RMSprop": ("learning_rate", "rho", "momentum", "epsilon", "centered", "name"),
    "SGD": ("learning_rate", "momentum", "nesterov", "name"),
}
_EPSILON = 1e-7


def mend_optimizers(set_attribute: Set) -> None:
    """Let the optimizers of Keras 3 take the arguments of Keras 2."""
    keras = private_keras.keras3()
    for name in (*_ORDER, "AdamW", "Adafactor", "Lion"):
        kind = getattr(keras.optimizers, name, None)
        if kind is not None and "__init__" in vars(kind):
            set_attribute(kind, "__init__", _taking_old_arguments(name, vars(kind)["__init__"]))


def _taking_old_arguments(kind: str, original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        args, kwargs = _named_in_old_order(kind, args, kwargs)
        kwargs.pop("jit_compile", None)
        if "lr" in kwargs:
            kwargs["learning_rate"] = kwargs.pop("lr")
        if kwargs.get("epsilon", _EPSILON) is None and not kind.startswith("Adafactor"):
            kwargs["epsilon"] = _EPSILON
        if kwargs.get("decay") is not None and is_program_calling():
            kwargs = _decayed(original, args, kwargs)
            args = args[1:] if args else args
        original(self, *args, **kwargs)

    init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    return init


def _named_in_old_order(kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Only the name is text: where it comes by position, the arguments are in the order of Keras 2."""
    order = _ORDER.get(kind, ())
    if len(args) <= len(order) and any(
        isinstance(value, str) and order[place] == "name" for place, value in enumerate(args)
    ):
        return (), {**dict(zip(order, args, strict=False)), **kwargs}
    return args, kwargs


def _decayed(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """`decay` divides the learning rate by `1 + decay * step`; Keras 3 ignores it."""
    decay = float(kwargs["decay"])
    rest = {name: value for name, value in kwargs.items() if name != "decay"}
    rate = args[0] if args else rest.get("learning_rate")
    if rate is None:
        rate = inspect.signature(original).parameters["learning_rate"].default
    if decay and not callable(rate):
        rate = private_keras.keras3().optimizers.schedules.InverseTimeDecay(float(rate), 1, decay)
    return {**rest, "learning_rate": rate}


def legacy_class(name: str) -> Any:
    """The class `tf.keras.optimizers.legacy.<name>`."""
    return _legacy_class(private_keras.keras3(), name)


@functools.cache
def _legacy_class(keras: Any, name: str) -> Any:
    order = _ORDER[name]
    base = _nadam_class(keras) if name == "Nadam" else getattr(keras.optimizers, name)

    class Legacy(base):  # type: ignore[misc, valid-type]
        """An optimizer of Keras 3 with the constructor of Keras 2."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            arguments = {**dict(zip(order, args, strict=False)), **kwargs}
            if "lr" in arguments:
                arguments["learning_rate"] = arguments.pop("lr")
            if arguments.get("epsilon", _EPSILON) is None:
                arguments["epsilon"] = _EPSILON
            if arguments.get("decay") is not None:
                arguments = _decayed(base.__init__, (), arguments)
            arguments.setdefault("name", name)
            super().__init__(**arguments)

    Legacy.__name__ = Legacy.__qualname__ = name
    keras.saving.register_keras_serializable("lightwell_legacy")(Legacy)
    return Legacy


def _nadam_class(keras: Any) -> Any:
    class Nadam(keras.optimizers.Optimizer):
        """Adam with Nesterov momentum that grows with `1 - 0.96 ** (0.004 * step)`; in Keras 3, `1 - 0.96 ** step`."""

        def __init__(
            self,
            learning_rate: Any = 0.001,
            beta_1: float = 0.9,
            beta_2: float = 0.999,
            epsilon: float = _EPSILON,
            name: str = "Nadam",
            **kwargs: Any,
        ) -> None:
            super().__init__(learning_rate=learning_rate, name=name, **kwargs)
            self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

        def build(self, variables: Any) -> None:
            """Create the moments of every variable, and the product of the momentums of all steps."""
            if self.built:
                return
            super().build(variables)
            self.moments = [
                (
                    self.add_variable_from_reference(variable, name="momentum"),
                    self.add_variable_from_reference(variable, name="velocity"),
                )
                for variable in variables
            ]
            self.product = self.add_variable(shape=(), initializer="ones", name="momentum_cache")

        def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
            """Make a step; the product changes once for all variables."""
            if not self.built and trainable_variables is not None:
                self.build(list(trainable_variables))
            self.assign(self.product, self.product * self._momentum(1))
            return super().apply(grads, trainable_variables)

        def _momentum(self, ahead: int) -> Any:
            step = tf.cast(tf.convert_to_tensor(self.iterations), "float32") + float(ahead)
            return self.beta_1 * (1.0 - 0.5 * tf.pow(0.96, 0.004 * step))

        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            """Update one variable."""
            dtype = variable.dtype
            rate, gradient = tf.cast(learning_rate, dtype), tf.cast(gradient, dtype)
            now, after = tf.cast(self._momentum(1), dtype), tf.cast(self._momentum(2), dtype)
            product = tf.cast(tf.convert_to_tensor(self.product), dtype)
            step = tf.cast(tf.convert_to_tensor(self.iterations), dtype) + 1.0
            momentum, velocity = self.moments[private_keras2.place_of(self, variable)]
            self.assign(momentum, self.beta_1 * momentum + (1.0 - self.beta_1) * gradient)
            self.assign(velocity, self.beta_2 * velocity + (1.0 - self.beta_2) * tf.square(gradient))
            ahead = tf.convert_to_tensor(momentum) / (1.0 - product * after)
            step_up = (1.0 - now) * gradient / (1.0 - product) + after * ahead
            spread = tf.sqrt(tf.convert_to_tensor(velocity) / (1.0 - tf.pow(tf.cast(self.beta_2, dtype), step)))
            self.assign_sub(variable, rate * step_up / (spread + self.epsilon))

        def get_config(self) -> dict[str, Any]:
            """The constructor's arguments."""
            own = {"beta_1": self.beta_1, "beta_2": self.beta_2, "epsilon": self.epsilon}
            return {**super().get_config(), **own}

    return Nadam


def legacy_base() -> Any:
    """The class `tf.keras.optimizers.legacy.Optimizer`: that of all optimizers."""
    return private_keras.keras3().optimizers.Optimizer
