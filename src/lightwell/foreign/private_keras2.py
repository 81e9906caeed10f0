"""Private doors of Keras 3 and TensorFlow that let programs of Keras 2 run: shapes, names, calls of functions.

A release that lacks one loses that habit, with one warning.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lightwell.foreign.probes import missing_attributes, warn_once

SHAPES_OF_A_CALL = "get_shapes_dict"
"""The function of Keras that collects the shapes for `build` and `compute_output_shape` of a layer."""


def layer_module(keras: Any) -> ModuleType | None:
    """The module of the class `Layer`, which looks up `SHAPES_OF_A_CALL` in its own names; None if it lacks that.

    There is no public place between a call and `build` at which the shape that `build` gets can be read.
    """
    module = sys.modules[keras.layers.Layer.__module__]
    missing = missing_attributes(module, [SHAPES_OF_A_CALL], "keras.src.layers.layer")
    if missing:
        loss = "input_shape in a layer's build has no as_list() and its dimensions no .value."
        warn_once(f"Keras {keras.__version__}", tuple(missing), loss)
    return None if missing else module


def rename_variable(variable: Any, name: str) -> None:
    """Gives a Keras variable a name that may hold a slash; the public argument refuses one."""
    folder = variable.path.removesuffix(variable.name)
    variable._name, variable._path = name, f"{folder}{name}"


def input_shape_of(layer: Any) -> Any:
    """The `input_shape` or `input_dim` that a layer was constructed with, or None; Keras stores it privately."""
    return getattr(layer, "_input_shape_arg", None)


def set_input_shape(layer: Any, shape: tuple[Any, ...]) -> None:
    """Stores what the argument `input_shape` would; Keras 3 warns about that at every layer."""
    layer._input_shape_arg = shape


def nodes_of(layer: Any) -> list[Any]:
    """The symbolic calls of a layer, in order; the public `layer.input` and `layer.output` know a single one."""
    return list(getattr(layer, "_inbound_nodes", ()))


def place_of(optimizer: Any, variable: Any) -> int:
    """The place of a variable among those that an optimizer was built for; it may come as another object than then."""
    return int(optimizer._get_variable_index(variable))


def save_h5_weights(model: Any, path: str, overwrite: bool) -> None:
    """Saves weights in the format of `weights.h5` files of Keras 2, which Keras 3 reads and no longer offers to write.

    Raises:
        FileExistsError: the file exists and must not be overwritten.
    """
    h5py = importlib.import_module("h5py")
    legacy = importlib.import_module("keras.src.legacy.saving.legacy_h5_format")
    with h5py.File(path, "w" if overwrite else "x") as file:
        legacy.save_weights_to_hdf5_group(file, model)


def start_answering(handle: Callable[[Any, Any, Any], Any]) -> Callable[[], None] | None:
    """Lets `handle(function, args, kwargs)` answer calls of TensorFlow functions that refuse their arguments.

    `tf.experimental.dispatch_for_api` serves one function and arguments of one type; a functional model may call any
    function, with Keras tensors at any depth.

    Args:
        handle: returns `not_answered()` for a call that it does not answer.

    Returns:
        A function that stops it; None if this TensorFlow cannot do it.
    """
    dispatch: Any = _dispatch()
    if dispatch is None:
        return None

    class Dispatcher(dispatch.GlobalOpDispatcher):
        def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
            return handle(op, args, kwargs)

    dispatcher = Dispatcher()
    dispatcher.register()

    def stop() -> None:
        if dispatcher in dispatch._GLOBAL_DISPATCHERS:
            dispatch._GLOBAL_DISPATCHERS.remove(dispatcher)

    return stop


def not_answered() -> Any:
    """What a handler returns for a call that it leaves to others."""
    return importlib.import_module("tensorflow.python.util.dispatch").OpDispatcher.NOT_SUPPORTED


def _dispatch() -> Any:
    module = importlib.import_module("tensorflow.python.util.dispatch")
    missing = missing_attributes(module, ["GlobalOpDispatcher", "OpDispatcher", "_GLOBAL_DISPATCHERS"], "dispatch")
    if missing:
        loss = "TensorFlow functions refuse Keras tensors: wrap them in a Lambda layer."
        warn_once("TensorFlow", tuple(missing), loss)
    return None if missing else module
