"""One call of a Keras layer in a `model_fn`, of either Keras: its path, its training mode, the book of layers.

Handles calls on real tensors only; `keras3_layers` and `legacy_layers` select them, and collect updates and losses.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.model.interop.equality import comparing
from lightwell.model.interop.trace import KerasTrace, OpenCall, active_trace
from lightwell.model.interop.variables import tf_variable
from lightwell.model.layers.record import BookCall, inside_loop


def follow_call(
    trace: KerasTrace,
    layer: Any,
    args: Any,
    kwargs: dict[str, Any],
    run: Callable[..., Any],
    *,
    by_value: bool = True,
) -> Any:
    """Calls `run(*args, **kwargs)` as the layer's call, with a default for `training`.

    Inputs pass the book of layers first; the mask that Keras stores on an input is copied.

    Returns:
        The outputs after the book.
    """
    around = trace.open_calls[-1] if trace.open_calls else None
    path = trace.names.path_of(layer, around.layer if around else None)
    written = list(kwargs)
    training = _training_argument(layer, args, kwargs)
    if training is None and trace.mode is not None:
        training = around.training if around else trace.is_training
        if "training" in _parameters(layer):
            kwargs = {**kwargs, "training": training}
    booked = BookCall(name=path, kind=type(layer).__name__, layer=layer)
    args, kwargs = _taken(booked, tuple(args), kwargs)
    steps = inside_loop(f"the recurrent layer {path!r}") if _calls_in_a_loop(layer) else contextlib.nullcontext()
    trace.open_calls.append(OpenCall(layer, path, training, by_value))
    try:
        with steps, comparing():
            outputs = run(*args, **kwargs)
    finally:
        trace.open_calls.pop()
    variables = [tf_variable(weight) for weight in layer.weights]
    return booked.pass_outputs(outputs, variables=variables, arguments=(args, {name: kwargs[name] for name in written}))


def _taken(booked: BookCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a layer after the book: all positional ones, and named ones with tensors."""
    names = [name for name, value in kwargs.items() if _has_tensor(value)]
    tensors = (*args, *(kwargs[name] for name in names))
    taken = (booked.pass_inputs(tensors[0]),) if len(tensors) == 1 else booked.pass_inputs(tensors)
    return taken[: len(args)], {**kwargs, **dict(zip(names, taken[len(args) :], strict=True))}


def wrapped_init(original: Any) -> Any:
    """A layer's constructor that registers the new layer in the active trace."""

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        trace = active_trace()
        if trace is not None:
            trace.names.created_here.add(id(self))
        original(self, *args, **kwargs)

    vars(init)["__signature__"] = inspect.signature(original)  # Keras reads it to know a layer's settings
    return init


def _parameters(layer: Any) -> Any:
    return inspect.signature(layer.call).parameters


def _training_argument(layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if "training" in kwargs:
        return kwargs["training"]
    place = place_of_training(layer)
    return args[place] if place is not None and place < len(args) else None


def place_of_training(layer: Any) -> int | None:
    """The position of `training` among the arguments of a layer's call; None if it has no such argument."""
    names = list(_parameters(layer))
    return names.index("training") if "training" in names else None


def _calls_in_a_loop(layer: Any) -> bool:
    """Whether a recurrent layer runs its cell in a loop; Keras calls the cell once outside of it, to infer shapes."""
    return hasattr(layer, "cell") and not getattr(layer, "unroll", False)


def _has_tensor(value: Any) -> bool:
    return any(tf.is_tensor(leaf) for leaf in tf.nest.flatten(value))
