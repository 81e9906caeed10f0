"""Losses and gradients on their way to an optimizer's variables.

A loss passes the book of layers before gradients are computed from it, by an optimizer or by the program; a gradient
before any optimizer applies it. Both pass once, also with optimizers that wrap others.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign.patches import Patches
from lightwell.model.interop.variables import name_of, tf_variable
from lightwell.model.layers.record import open_book, pass_loss

_v1 = tf.compat.v1
# The methods whose code is running: an optimizer that wraps another passes on values that passed the book already.
_running: contextvars.ContextVar[frozenset[str]] = contextvars.ContextVar("lightwell_optimizer", default=frozenset())


def pass_gradients(gradients: Sequence[Any], variables: Sequence[Any]) -> list[Any]:
    """The gradients of `variables` after edits."""
    book = open_book()
    if book is None:
        return list(gradients)
    places = [place for place, gradient in enumerate(gradients) if gradient is not None]
    named = [(f"gradients/weights/{_name(variables[place])}", gradients[place]) for place in places]
    passed = dict(zip(places, book.pass_together(named), strict=True))
    return [passed.get(place) for place in range(len(gradients))]


def pass_gradient_pairs(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """(gradient, variable) pairs, with the gradients after edits."""
    listed = [tuple(pair) for pair in pairs]
    variables = [variable for _, variable in listed]
    return list(zip(pass_gradients([gradient for gradient, _ in listed], variables), variables, strict=True))


@contextlib.contextmanager
def running(method: str) -> Iterator[None]:
    """Inside the block, the arguments of `method` of an optimizer have passed the book already."""
    token = _running.set(_running.get() | {method})
    try:
        yield
    finally:
        _running.reset(token)


def patch_loss_argument(patches: Patches, optimizer: type, method: str) -> None:
    """Makes the loss argument of `method` pass the book, for an optimizer class and its subclasses."""
    _pass_first_argument(patches, optimizer, method, "loss", pass_loss)


def patch_gradient_functions(patches: Patches) -> None:
    """Makes a scalar pass the book when a program computes its gradients by variables itself."""
    originals = (tf.gradients, _v1.gradients)
    patches.put_everywhere(("gradients", original, patches.wrapped(_passing_first, original)) for original in originals)
    patches.wrap(tf.GradientTape, "gradient", _passing_target)


def _passing_first(original: Any) -> Any:
    @functools.wraps(original)
    def gradients(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
        if _are_weights(xs):
            ys = [_passed(y) for y in ys] if isinstance(ys, list | tuple) else _passed(ys)
        return original(ys, xs, *args, **kwargs)

    return gradients


def _passing_target(original: Any) -> Any:
    @functools.wraps(original)
    def gradient(self: Any, target: Any, sources: Any, output_gradients: Any = None, *args: Any, **kwargs: Any) -> Any:
        if output_gradients is None and _are_weights(sources):
            loss = _passed(target)
            if loss is not target:  # the tape has not seen how one came from the other
                output_gradients = tf.gradients(loss, target)[0]
        return original(self, target, sources, output_gradients, *args, **kwargs)

    return gradient


def _are_weights(xs: Any) -> bool:
    """Whether the gradients by `xs` may be those of a loss that an edit changes, outside of an optimizer."""
    book = open_book()
    if book is None or not book.edits or "compute_gradients" in _running.get():
        return False
    return any(isinstance(x, tf.Variable) for x in tf.nest.flatten(xs))


def _passed(y: Any) -> Any:
    return pass_loss(y) if isinstance(y, tf.Tensor) and y.shape.rank == 0 else y


def patch_gradients_argument(patches: Patches, optimizer: type, method: str) -> None:
    """Makes the gradients argument of `method` pass the book, for an optimizer class and its subclasses."""
    _pass_first_argument(patches, optimizer, method, "grads_and_vars", pass_gradient_pairs)


def _pass_first_argument(
    patches: Patches, optimizer: type, method: str, argument: str, change: Callable[[Any], Any]
) -> None:
    for kind in [optimizer, *derived(optimizer)]:
        if method in vars(kind):
            patches.wrap(kind, method, functools.partial(_passing_argument, method, argument, change))


def _passing_argument(method: str, argument: str, change: Callable[[Any], Any], original: Any) -> Any:
    @functools.wraps(original)
    def pass_and_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if method in _running.get() or open_book() is None:
            return original(self, *args, **kwargs)
        if args:
            args = (change(args[0]), *args[1:])
        elif argument in kwargs:
            kwargs[argument] = change(kwargs[argument])
        with running(method):
            return original(self, *args, **kwargs)

    return pass_and_call


def derived(kind: type) -> list[type]:
    """The classes derived from `kind`, each once."""
    below: list[type] = type.__subclasses__(kind)
    return list(dict.fromkeys(one for direct in below for one in (direct, *derived(direct))))


def _name(variable: Any) -> str:
    """Its name in checkpoints, the same in every replica."""
    return name_of(tf_variable(variable))
