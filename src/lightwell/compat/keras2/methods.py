"""Methods and properties of layers, models and optimizers that Keras 3 dropped.

They are added to the classes of Keras 3 while the doors are open; what a class has already is not touched. Those that
need the graph of a `model_fn` (`updates`, `get_updates_for`, `optimizer.get_updates`) are in
`model/interop/keras2_methods.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.compat.keras2.arguments import BATCH_SIZE, Set
from lightwell.errors import UsageError
from lightwell.foreign import private_keras, private_keras2


def mend_methods(set_attribute: Set) -> None:
    """Add the methods of Keras 2 that Keras 3 lacks."""
    keras = private_keras.keras3()
    _add(set_attribute, keras.layers.Layer, _LAYER)
    _add(set_attribute, keras.Model, _MODEL)
    _add(set_attribute, keras.Sequential, _SEQUENTIAL)
    _add(set_attribute, keras.metrics.Metric, _METRIC)
    _add(set_attribute, keras.optimizers.Optimizer, _OPTIMIZER)
    set_attribute(keras.Sequential, "add", _taking_batch_size(keras.Sequential.add))
    set_attribute(keras.Model, "save_weights", _with_old_suffix(keras.Model.save_weights))


def _add(set_attribute: Set, kind: type, methods: dict[str, Any]) -> None:
    for name, method in methods.items():
        if not hasattr(kind, name):
            set_attribute(kind, name, method)


def _apply(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    return self(inputs, *args, **kwargs)


def _add_update(self: Any, updates: Any, inputs: Any = None) -> None:
    """Make an operation part of the step: where a graph is built, through its collection."""
    del self, inputs
    for update in tf.nest.flatten(updates):
        if not tf.executing_eagerly() and hasattr(update, "graph"):
            tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.UPDATE_OPS, update)


def _in_call(which: str, of: Callable[[Any], Any] = lambda tensor: tensor) -> Callable[[Any, int], Any]:
    """The inputs or outputs of the symbolic call number `node_index` of a layer."""

    def read(self: Any, node_index: int = 0) -> Any:
        nodes = private_keras2.nodes_of(self)
        if node_index >= len(nodes):
            raise AttributeError(
                f"The layer {self.name!r} has never been called on a Keras tensor {node_index + 1} times, so it has no "
                f"{which} at index {node_index}. There are {len(nodes)} symbolic calls."
            )
        tensors = [of(tensor) for tensor in getattr(nodes[node_index], f"{which}_tensors")]
        return tensors[0] if len(tensors) == 1 else tensors

    return read


def _shape(tensor: Any) -> Any:
    return tensor.shape


def _mask(tensor: Any) -> Any:
    return getattr(tensor, "_keras_mask", None)


class _Read:
    """A property that an instance may replace: today's layers are free to set these names."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else self._read(instance)


def _of_the_first_call(read: Callable[[Any, int], Any]) -> _Read:
    return _Read(lambda self: read(self, 0))


_LAYER: dict[str, Any] = {
    "apply": _apply,
    "add_update": _add_update,
    "get_input_at": _in_call("input"),
    "get_output_at": _in_call("output"),
    "get_input_shape_at": _in_call("input", _shape),
    "get_output_shape_at": _in_call("output", _shape),
    "get_input_mask_at": _in_call("input", _mask),
    "get_output_mask_at": _in_call("output", _mask),
    "input_shape": _of_the_first_call(_in_call("input", _shape)),
    "output_shape": _of_the_first_call(_in_call("output", _shape)),
    "input_mask": _of_the_first_call(_in_call("input", _mask)),
    "output_mask": _of_the_first_call(_in_call("output", _mask)),
    "inbound_nodes": _Read(private_keras2.nodes_of),
    "dynamic": False,
    "stateful": False,
    "get_losses_for": lambda self, inputs: list(self.losses),
    "get_updates_for": lambda self, inputs: [],
    "updates": _Read(lambda self: []),
}


def _reset_states(self: Any) -> None:
    """Reset the states of every recurrent layer that keeps one."""
    for layer in private_keras.layers_in(self):
        reset = getattr(layer, "reset_states", None) or getattr(layer, "reset_state", None)
        if getattr(layer, "stateful", False) and reset is not None:
            reset()


def _to_yaml(self: Any, **kwargs: Any) -> str:
    raise UsageError("model.to_yaml() was removed for its security: use model.to_json().")


def _fit(self: Any, generator: Any, steps_per_epoch: Any = None, epochs: int = 1, **kwargs: Any) -> Any:
    for name in ("max_queue_size", "workers", "use_multiprocessing"):
        kwargs.pop(name, None)
    return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, **kwargs)


def _evaluate(self: Any, generator: Any, steps: Any = None, **kwargs: Any) -> Any:
    for name in ("max_queue_size", "workers", "use_multiprocessing"):
        kwargs.pop(name, None)
    return self.evaluate(generator, steps=steps, **kwargs)


def _predict(self: Any, generator: Any, steps: Any = None, **kwargs: Any) -> Any:
    for name in ("max_queue_size", "workers", "use_multiprocessing"):
        kwargs.pop(name, None)
    return self.predict(generator, steps=steps, **kwargs)


_MODEL: dict[str, Any] = {
    "reset_states": _reset_states,
    "fit_generator": _fit,
    "evaluate_generator": _evaluate,
    "predict_generator": _predict,
    "to_yaml": _to_yaml,
    "state_updates": _Read(lambda self: []),
}


def _predict_proba(self: Any, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
    return self.predict(x, batch_size=batch_size, verbose=verbose)


def _predict_classes(self: Any, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
    """The index of the largest output; for a single output, whether it is above one half."""
    scores = self.predict(x, batch_size=batch_size, verbose=verbose)
    return scores.argmax(axis=-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")


_SEQUENTIAL: dict[str, Any] = {"predict_proba": _predict_proba, "predict_classes": _predict_classes}
_METRIC: dict[str, Any] = {"reset_states": lambda self: self.reset_state()}


def _get_lr(self: Any) -> Any:
    return self.learning_rate


def _set_lr(self: Any, value: Any) -> None:
    self.learning_rate = value


def _get_gradients(self: Any, loss: Any, params: Any) -> list[Any]:
    return list(tf.compat.v1.gradients(loss, list(params)))


_OPTIMIZER: dict[str, Any] = {
    "lr": property(_get_lr, _set_lr),
    "get_gradients": _get_gradients,
    "get_weights": lambda self: [variable.numpy() for variable in self.variables],
    "weights": property(lambda self: list(self.variables)),
}


def _taking_batch_size(original: Any) -> Any:
    """`LSTM(batch_input_shape=(8, 5, 3))` as the first layer says how many rows a batch has."""

    @functools.wraps(original)
    def add(self: Any, layer: Any, *args: Any, **kwargs: Any) -> Any:
        batch_size = vars(layer).get(BATCH_SIZE) if hasattr(layer, "__dict__") else None
        shape = private_keras2.input_shape_of(layer)
        if batch_size is not None and shape is not None and not self.layers:
            original(self, private_keras.keras3().Input(shape=shape, batch_size=batch_size))
        return original(self, layer, *args, **kwargs)

    return add


def _with_old_suffix(original: Any) -> Any:
    """`model.save_weights("weights.h5")`: Keras 3 wants another end of the name, and writes another format then."""

    @functools.wraps(original)
    def save_weights(self: Any, filepath: Any, overwrite: bool = True, **kwargs: Any) -> Any:
        text = str(filepath)
        if text.endswith((".h5", ".hdf5", ".keras")) and not text.endswith(".weights.h5"):
            return private_keras2.save_h5_weights(self, text, overwrite)
        return original(self, filepath, overwrite=overwrite, **kwargs)

    return save_weights
