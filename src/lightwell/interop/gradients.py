"""Losses and gradients on their way to an optimizer's variables.

Owns the last moment at which they may be changed: the loss before gradients are taken of it, by an optimizer or by the
program itself, each gradient before an optimizer applies it, whichever optimizer that is. Both pass the book of layers
once, however many optimizers stand inside one another.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell._patches import Patches
from lightwell.interop.variables import name_of, tf_variable
from lightwell.layers.record import open_book, passed_loss

_v1 = tf.compat.v1
# The methods whose code is running: an optimizer around another hands on what has passed already.
_running: contextvars.ContextVar[frozenset[str]] = contextvars.ContextVar("lightwell_optimizer", default=frozenset())


def passed_gradients(gradients: Sequence[Any], variables: Sequence[Any]) -> list[Any]:
    """What an optimizer applies in place of `gradients`, those of `variables`."""
    book = open_book()
    if book is None:
        return list(gradients)
    there = [place for place, gradient in enumerate(gradients) if gradient is not None]
    named = [(f"gradients/weights/{_name(variables[place])}", gradients[place]) for place in there]
    passed = dict(zip(there, book.passed_together(named), strict=True))
    return [passed.get(place) for place in range(len(gradients))]


def passed_pairs(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """(gradient, variable) pairs, with what is applied in place of the gradients."""
    listed = [tuple(pair) for pair in pairs]
    variables = [variable for _, variable in listed]
    return list(zip(passed_gradients([gradient for gradient, _ in listed], variables), variables, strict=True))


@contextlib.contextmanager
def running(method: str) -> Iterator[None]:
    """Inside the block, what `method` of an optimizer is given has passed already."""
    token = _running.set(_running.get() | {method})
    try:
        yield
    finally:
        _running.reset(token)


def pass_losses(patches: Patches, optimizer: type, method: str) -> None:
    """Lets the losses that `method` of an optimizer class, or of one derived from it, is given pass."""
    _pass_first_argument(patches, optimizer, method, "loss", passed_loss)


def pass_losses_of_programs(patches: Patches) -> None:
    """Lets a loss pass that a program takes gradients of by itself: a number that it derives by variables."""
    originals = (tf.gradients, _v1.gradients)
    patches.put_everywhere(("gradients", original, patches.made(_passing_first, original)) for original in originals)
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
    """Whether what is derived by `xs` may be a loss that an edit changes, and no optimizer sees to it."""
    book = open_book()
    if book is None or not book.edits or "compute_gradients" in _running.get():
        return False
    return any(isinstance(x, tf.Variable) for x in tf.nest.flatten(xs))


def _passed(y: Any) -> Any:
    return passed_loss(y) if isinstance(y, tf.Tensor) and y.shape.rank == 0 else y


def pass_pairs(patches: Patches, optimizer: type, method: str) -> None:
    """Lets the gradients that `method` of an optimizer class, or of one derived from it, is given pass."""
    _pass_first_argument(patches, optimizer, method, "grads_and_vars", passed_pairs)


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
