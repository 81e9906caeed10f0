"""What Lightwell needs of Keras that has no public door. Nothing else in the package reaches behind `keras.*`.

Each entry says why it is needed.
"""

from __future__ import annotations

import collections
import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any


def keras3() -> Any:
    """The Keras 3 package if the program has loaded it with the TensorFlow backend, else None. Imports nothing."""
    keras = sys.modules.get("keras")
    if not str(getattr(keras, "__version__", "")).startswith("3."):
        return None
    return keras if keras is not None and keras.config.backend() == "tensorflow" else None


def legacy_keras() -> Any:
    """The `tf_keras` package if the program has loaded it, else None. Imports nothing."""
    return sys.modules.get("tf_keras")


def legacy_layer_classes(keras: Any) -> tuple[Any, Any]:
    """The class of layers, and the one that takes its place for layers made in a graph."""
    return keras.layers.Layer, importlib.import_module("tf_keras.src.engine.base_layer_v1").Layer


def legacy_updates(layer: Any) -> list[Any]:
    """The updates of one layer; the public `layer.updates` mixes in those of the layers it holds."""
    return list(getattr(layer, "_updates", ()))


def legacy_rate(optimizer: Any) -> Any:
    """The learning rate as given; `optimizer.learning_rate` is the variable that holds a schedule's current value."""
    return optimizer._learning_rate


def variable_class(keras: Any) -> Any:
    """The class behind every Keras variable: `keras.Variable` is a subclass that old releases do not use themselves."""
    return keras.Variable.__mro__[1]


def _global_state() -> Any:
    return importlib.import_module("keras.src.backend.common.global_state")


@contextlib.contextmanager
def fresh_counters() -> Iterator[None]:
    """Names and the default random generator start over inside the block, and go on outside where they were.

    The public `keras.utils.clear_session` forgets the user's own counters, and resets TensorFlow's default graph.
    """
    state = _global_state()
    fresh: dict[str, Any] = {"object_name_uids": collections.defaultdict(int), "global_seed_generator": None}
    before = {name: state.get_global_attribute(name) for name in fresh}
    for name, value in fresh.items():
        state.set_global_attribute(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            state.set_global_attribute(name, value)


def only_infers_shapes() -> bool:
    """Whether Keras is running a layer to learn the shape of its output: there is no other sign of it."""
    return _global_state().get_global_attribute("stateless_scope") is not None


def keras_path(layer: Any) -> str:
    """What the Keras paths of the layer's variables start with; releases before `Layer.path` keep only the parent's."""
    path = getattr(layer, "path", None)
    if path:
        return str(path)
    parent = getattr(layer, "_parent_path", None)
    return f"{parent}/{layer.name}" if parent else str(layer.name)


def random_initializer_class(keras: Any) -> Any:
    """The class behind every random initializer, which takes or draws its seed."""
    return keras.initializers.RandomNormal.__mro__[1]


def stored_dtype(variable: Any) -> Any:
    """The dtype a Keras variable is kept in; `variable.dtype` is the one it is cast to just now."""
    return variable._dtype


def held_value(variable: Any) -> Any:
    """The TensorFlow variable that a Keras variable stands for; `variable.value` may be a cast of it, or a tensor."""
    return variable._value


def hold_value(variable: Any, value: Any) -> None:
    """Makes a Keras variable stand for another TensorFlow variable."""
    variable._value = value


def stand_in(keras: Any, tf_variable: Any) -> Any:
    """A Keras variable for a TensorFlow variable that Keras did not make; it cannot be told its path in public."""
    dtype, name = tf_variable.dtype.base_dtype.name, tf_variable.op.name
    made = keras.Variable(keras.initializers.Zeros(), tuple(tf_variable.shape), dtype, name=name.rpartition("/")[2])
    made._path = name
    made.constraint = tf_variable.constraint
    hold_value(made, tf_variable)
    return made


def create_value(variable: Any, initial_value: Any) -> None:
    """Lets Keras create the TensorFlow variable, with the dtype, aggregation and synchronisation it wants."""
    variable._initialize(initial_value)


def replace_initializer(tf_variable: Any, operation: Any) -> None:
    """Gives a TensorFlow variable another first value; `tf.compat.v1.train.init_from_checkpoint` does it this way."""
    tf_variable._initializer_op = operation


def iterations(optimizer: Any) -> Any:
    """The variable an optimizer counts its updates in; `optimizer.iterations` may be a quotient of it.

    Early releases have the public attribute alone.
    """
    return vars(optimizer).get("_iterations", vars(optimizer).get("iterations"))
