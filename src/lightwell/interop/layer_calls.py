"""One call of one Keras layer in a `model_fn`, of either Keras: its path, its training mode, its way past the book.

Takes calls on real tensors only; `keras3_layers` and `legacy_layers` know which those are, and what a layer leaves in
the graph.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.interop.equality import comparing
from lightwell.interop.trace import KerasTrace, OpenCall, active_trace
from lightwell.interop.variables import tf_variable
from lightwell.layers.record import Calling, looping


def follow_call(
    trace: KerasTrace,
    layer: Any,
    args: Any,
    kwargs: dict[str, Any],
    run: Callable[..., Any],
    *,
    by_value: bool = True,
) -> Any:
    """Calls `run(*args, **kwargs)` as the layer's call, with `training` added where nobody says.

    It computes with what the book of layers makes of its inputs; a mask that Keras noted on one goes on with it.

    Returns:
        What the book makes of the outputs.
    """
    around = trace.open_calls[-1] if trace.open_calls else None
    path = trace.names.path_of(layer, around.layer if around else None)
    written = list(kwargs)
    training = _given_training(layer, args, kwargs)
    if training is None and trace.mode is not None:
        training = around.training if around else trace.is_training
        if "training" in _parameters(layer):
            kwargs = {**kwargs, "training": training}
    passing = Calling(name=path, kind=type(layer).__name__, layer=layer)
    args, kwargs = _taken(passing, tuple(args), kwargs)
    steps = looping(f"the recurrent layer {path!r}") if _calls_in_a_loop(layer) else contextlib.nullcontext()
    trace.open_calls.append(OpenCall(layer, path, training, by_value))
    try:
        with steps, comparing():
            outputs = run(*args, **kwargs)
    finally:
        trace.open_calls.pop()
    variables = [tf_variable(weight) for weight in layer.weights]
    return passing.gives(outputs, variables=variables, given=(args, {name: kwargs[name] for name in written}))


def _taken(passing: Calling, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that a layer is called with, after the book: all by place, and those by name that hold tensors."""
    named = [name for name, value in kwargs.items() if _has_tensor(value)]
    given = (*args, *(kwargs[name] for name in named))
    taken = (passing.takes(given[0]),) if len(given) == 1 else passing.takes(given)
    return taken[: len(args)], {**kwargs, **dict(zip(named, taken[len(args) :], strict=True))}


def wrapped_init(original: Any) -> Any:
    """A layer's constructor that tells the active trace of the new layer."""

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        trace = active_trace()
        if trace is not None:
            trace.names.made_here.add(id(self))
        original(self, *args, **kwargs)

    vars(init)["__signature__"] = inspect.signature(original)  # Keras reads it to know a layer's settings
    return init


def _parameters(layer: Any) -> Any:
    return inspect.signature(layer.call).parameters


def _given_training(layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if "training" in kwargs:
        return kwargs["training"]
    place = place_of_training(layer)
    return args[place] if place is not None and place < len(args) else None


def place_of_training(layer: Any) -> int | None:
    """Which of the arguments of a layer's call is `training`; None where it takes no such argument."""
    names = list(_parameters(layer))
    return names.index("training") if "training" in names else None


def _calls_in_a_loop(layer: Any) -> bool:
    """Whether a recurrent layer runs its cell in a loop; Keras calls the cell once outside of it, to learn shapes."""
    return hasattr(layer, "cell") and not getattr(layer, "unroll", False)


def _has_tensor(value: Any) -> bool:
    return any(tf.is_tensor(leaf) for leaf in tf.nest.flatten(value))
