"""The edits that users write, each a frozen value: `zero`, `scale`, `add`, `replace`, `noise`, `clip`, `apply`.

An edit says which values it changes and how; it is handed to `est.train`, `est.evaluate`, `est.predict` or a
predictor. Several edits apply in order; each gets the result of the one before.

    est.evaluate(input_fn, edits=[lw.zero("layers/conv2d", channel=3)])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import UsageError, WrongType
from lightwell.inside.edits.base import At, Edit, is_array, on_values
from lightwell.inside.edits.functions import applied
from lightwell.inside.edits.masks import MaskedEdit, mask_of, part
from lightwell.inside.paths.show import shape_text


@dataclass(frozen=True, eq=False, repr=False)
class Zero(MaskedEdit):
    """Zeros in place of a value, or of a part of it."""

    def changed(self, value: Any, at: At) -> Any:
        _check_numbers(at)
        mask = mask_of(self, at)
        if mask is None:  # by a choice, so that a gradient of zero flows where none would stop an optimizer
            mask = at.numbers.hold("mask", lambda one: True, tf.bool)
        return on_values(value, lambda x: tf.where(mask, tf.zeros_like(x), x))


@dataclass(frozen=True, eq=False, repr=False)
class Scale(MaskedEdit):
    """A multiple of a value."""

    by_place = ("factor",)
    factor: Any = 1.0

    def changed(self, value: Any, at: At) -> Any:
        _check_numbers(at)
        factor, mask = _held(self, "factor", at), mask_of(self, at)
        return on_values(value, lambda x: part(mask, x * factor, x))


@dataclass(frozen=True, eq=False, repr=False)
class Add(MaskedEdit):
    """A value with a vector, or a number, added."""

    by_place = ("vector",)
    vector: Any = 0.0

    def changed(self, value: Any, at: At) -> Any:
        _check_numbers(at)
        vector, mask = _held(self, "vector", at), mask_of(self, at)
        return on_values(value, lambda x: part(mask, x + vector, x))


@dataclass(frozen=True, eq=False, repr=False)
class Replace(MaskedEdit):
    """Another value in place of the one that was computed."""

    by_place = ("value",)
    value: Any = None

    def array(self, path: str | None = None) -> Any:
        """The array; of a store of captured values, that of the path."""
        if is_array(self.value):
            return np.asarray(self.value)
        try:
            return np.asarray(self.value[path or self.path])
        except (KeyError, TypeError) as error:
            raise UsageError(
                f"{self!r}: the value must be an array, or a store that has one under {path or self.path!r}; got "
                f"{type(self.value).__name__}."
            ) from error

    def changed(self, value: Any, at: At) -> Any:
        if not isinstance(value, tf.Tensor):
            raise at.error(f"is a {type(value).__name__}; only dense tensors can be replaced. Use lw.apply.")
        array = self.array(at.path)
        if at.by_example and value.shape.rank is not None and array.ndim == value.shape.rank and len(array) != 1:
            new = self._rows(array, value, at)
        else:
            dtype = _fitting(array, value, at, "value")
            new = at.numbers.hold("value", lambda one: one.array(at.path), dtype)
            new = tf.broadcast_to(new, tf.shape(value))
        mask = mask_of(self, at)
        if mask is None and at.mode != ModeKeys.PREDICT and value.dtype.is_floating:
            # Weights before it have a gradient of zero rather than none. Without one an optimizer makes no slots for
            # them, and a training that goes on without the edit would miss these in the checkpoint.
            mask = tf.constant(True)
        return part(mask, new, value)

    def _rows(self, array: Any, value: Any, at: At) -> Any:
        expected = value.shape[1:]
        if not expected.is_compatible_with(array.shape[1:]):
            raise at.error(
                f"has {shape_text(expected.as_list())} for each example; the rows of the array have "
                f"{shape_text(array.shape[1:])}."
            )
        dtype = _fitting(array, value, at, "value", shape_too=False)
        return at.numbers.rows("value", lambda one: one.array(at.path), dtype, tf.shape(value, out_type=tf.int64)[0])


@dataclass(frozen=True, eq=False, repr=False)
class Noise(MaskedEdit):
    """A value with normal noise added, drawn anew in each step."""

    by_place = ("std",)
    std: Any = 1.0
    seed: int | None = None

    def changed(self, value: Any, at: At) -> Any:
        if not at.passing.value.dtype.is_floating:
            raise at.error(f"is {at.value_text()}; noise is added to floating-point numbers only.")
        std, mask = _held(self, "std", at), mask_of(self, at)
        seed = at.seed if self.seed is None else self.seed

        def noisy(x: Any) -> Any:
            return part(mask, x + tf.random.normal(tf.shape(x), stddev=std, dtype=x.dtype, seed=seed), x)

        return on_values(value, noisy)

    def _form_of(self, name: str) -> Any:
        return self.seed if name == "seed" else super()._form_of(name)


@dataclass(frozen=True, eq=False, repr=False)
class Clip(Edit):
    """A value kept within a limit: of its norm, of the norm of all together, or of each number."""

    norm: Any = None
    global_norm: Any = None
    value: Any = None

    def __post_init__(self) -> None:
        arguments = [name for name in ("norm", "global_norm", "value") if getattr(self, name) is not None]
        if len(arguments) != 1:
            raise UsageError(
                f"{self!r}: give exactly one limit: norm=, global_norm= or value=; got {arguments or 'none'}."
            )
        if not np.all(np.asarray(getattr(self, arguments[0])) > 0):
            raise UsageError(f"{self!r}: a limit must be a number above zero.")

    def changed(self, value: Any, at: At) -> Any:
        _check_numbers(at)
        if self.global_norm is not None:
            raise at.error("passes by itself; global_norm= is for values that pass together, the gradients.")
        if self.norm is not None:
            return tf.clip_by_norm(value, _held(self, "norm", at))
        limit = _held(self, "value", at)
        return on_values(value, lambda x: tf.clip_by_value(x, -limit, limit))

    def changed_together(self, places: Sequence[At]) -> list[Any] | None:
        """The norm of all together needs all of them."""
        if self.global_norm is None or not places:
            return None
        limit = _held(self, "global_norm", places[0])
        clipped, _ = tf.clip_by_global_norm([at.passing.value for at in places], limit)
        return list(clipped)


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Edit):
    """What a function makes of a value."""

    by_place = ("fn",)
    fn: Any = None
    numpy: bool | None = None

    def changed(self, value: Any, at: At) -> Any:
        return applied(self.fn, self.numpy, value, at)


def zero(path: Any, *, unit: Any = None, channel: Any = None, where: Any = None) -> Zero:
    """Zeros in place of a value, or of some of its units or channels.

    Args:
        path: which values: a path, a glob, a layer class, a predicate, or a list of those.
        unit: one number of each example's value: an index, a tuple of indices, or a list of those.
        channel: an index of the last dimension, or several: of a convolution, whole filters.
        where: a boolean array that can be broadcast to an example's value, or a function of the tensor.

    Example:
        `est.evaluate(input_fn, edits=[lw.zero("layers/conv2d", channel=3)])`
    """
    return Zero(path, unit, channel, where)


def scale(path: Any, factor: Any, *, unit: Any = None, channel: Any = None, where: Any = None) -> Scale:
    """A value times `factor`, a number or an array; the choices are those of `zero`.

    Example:
        `est.predict(input_fn, edits=[lw.scale("layers/dense", 0.5, unit=[1, 4])])`
    """
    return Scale(path, unit, channel, where, _numbers("scale", "factor", factor))


def add(path: Any, vector: Any, *, unit: Any = None, channel: Any = None, where: Any = None) -> Add:
    """A value plus `vector`, an array that can be broadcast to an example's value, or a number.

    Example:
        `est.predict(input_fn, edits=[lw.add("layers/encoder", 2.0 * direction)])`
    """
    return Add(path, unit, channel, where, _numbers("add", "vector", vector))


def replace(path: Any, value: Any, *, unit: Any = None, channel: Any = None, where: Any = None) -> Replace:
    """Another value in place of the one that was computed.

    Args:
        path: which values; see `zero`.
        value: an array in the shape of one example's value, which every example gets; an array with one row for each
            example of the data set, in its order; or a store of captured values, which has such an array by path.
        unit: see `zero`.
        channel: see `zero`.
        where: see `zero`.

    What stood before a value that is replaced as a whole is not computed, and in training gets no gradient from it.

    Example:
        `est.evaluate(input_fn, edits=[lw.replace("layers/conv2d", means)])`
    """
    if value is None or (not is_array(value) and not hasattr(value, "__getitem__")):
        raise WrongType(f"lw.replace: the value must be an array or a store of captured values, got {value!r}.")
    return Replace(path, unit, channel, where, value)


def noise(
    path: Any, std: Any, *, seed: int | None = None, unit: Any = None, channel: Any = None, where: Any = None
) -> Noise:
    """A value plus normal noise of standard deviation `std`, drawn anew in each step.

    Without a `seed` the draws follow from the seed of the run and the path; the model's own draws stay as they are.

    Example:
        `est.train(input_fn, steps=100, edits=[lw.noise("features/x", std=0.1)])`
    """
    if np.any(np.asarray(_numbers("noise", "std", std)) < 0):
        raise UsageError(f"lw.noise: std is a standard deviation, from 0 on; got {std!r}.")
    return Noise(path, unit, channel, where, std, seed)


def clip(path: Any, *, norm: Any = None, global_norm: Any = None, value: Any = None) -> Clip:
    """A value kept within one limit.

    Args:
        path: which values: `"gradients/*"`.
        norm: the largest norm of each value.
        global_norm: the largest norm of all gradients that an optimizer applies together.
        value: the largest absolute value of each number.

    Example:
        `est.train(input_fn, steps=100, edits=[lw.clip("gradients/*", norm=1.0)])`
    """
    return Clip(path, norm, global_norm, value)


def apply(path: Any, fn: Callable[[Any], Any], *, numpy: bool | None = None) -> Apply:
    """What a function makes of a value: of TensorFlow ops, which become part of the graph.

    Args:
        path: which values; see `zero`.
        fn: takes a tensor, gives one of the same type and a shape that fits. A NumPy function takes and gives arrays;
            it runs in Python for each step, which is slow and said once, and has no gradient.
        numpy: whether `fn` is a NumPy function; None finds out.

    Example:
        `est.predict(input_fn, edits=[lw.apply("layers/dense", tf.nn.relu)])`
    """
    if not callable(fn):
        raise WrongType(f"lw.apply: fn must be a function of a tensor, got {type(fn).__name__} {fn!r}.")
    return Apply(path, fn, numpy)


def _numbers(edit: str, name: str, value: Any) -> Any:
    if not is_array(value) or isinstance(value, bool) or np.asarray(value).dtype.kind not in "iufcb":
        raise WrongType(f"lw.{edit}: {name} must be a number or an array of numbers, got {value!r}.")
    return value


def _check_numbers(at: At) -> None:
    dtype = at.passing.value.dtype
    if not (dtype.is_floating or dtype.is_integer or dtype.is_complex):
        raise at.error(f"holds {dtype.name}, and this edit needs numbers. Use lw.replace or lw.apply.")


def _held(edit: Any, name: str, at: At) -> Any:
    """A number or an array of the edit, in the type of the value, outside of the graph."""
    dtype = _fitting(np.asarray(getattr(edit, name)), at.passing.value, at, name)
    return at.numbers.hold(name, lambda one: getattr(one, name), dtype)


def _fitting(array: Any, value: Any, at: At, name: str, shape_too: bool = True) -> Any:
    """The type of the value, if an array can be taken for it."""
    expected = np.dtype(object) if value.dtype == tf.string else np.dtype(value.dtype.as_numpy_dtype)
    is_text = array.dtype.kind in "OUST"
    if is_text != (value.dtype == tf.string) or not (is_text or _can_be(array.dtype, expected)):
        raise at.error(
            f"is {at.value_text()}; {name}= is an array of {array.dtype.name}. Cast it to {value.dtype.name}."
        )
    sizes = at.shape
    if shape_too and sizes is not None and not _broadcasts(array.shape, sizes):
        raise at.error(
            f"is {at.value_text()}; {name}= has shape {shape_text(array.shape)}, which cannot be broadcast to "
            f"{shape_text(sizes)}."
        )
    return value.dtype


def _can_be(dtype: Any, target: Any) -> bool:
    if dtype.kind in "iub" and target.kind in "iufc":
        return True
    return bool(np.can_cast(dtype, target, "same_kind")) or target.kind == "V"  # bfloat16 is a type of its own


def _broadcasts(shape: tuple[int, ...], sizes: Sequence[int | None]) -> bool:
    if len(shape) == len(sizes) + 1 and shape[0] == 1:
        shape = shape[1:]
    pairs = zip(shape[::-1], list(sizes)[::-1], strict=False)
    return len(shape) <= len(sizes) and all(mine in (1, size) or size is None for mine, size in pairs)
