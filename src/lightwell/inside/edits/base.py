"""What an edit is: which values it changes, and how.

Owns `Edit`, the base of all that users write, and `At`, the place where one is at work. An edit is a frozen value: it
can be printed, compared and used again, and holds nothing of a graph.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.inside.paths.show import shape_text
from lightwell.model.layers.gate import Passing

Array = np.ndarray[Any, Any]


class Numbers(Protocol):
    """The numbers of one edit at one value, outside of the graph so that they can be replaced."""

    def hold(self, name: str, make: Callable[[Any], Any], dtype: Any) -> Any:
        """A tensor with a number, or an array, that `make` gives for the edit."""

    def rows(self, name: str, make: Callable[[Any], Any], dtype: Any, count: Any) -> Any:
        """A tensor with the next `count` rows of the array that `make` gives."""


@dataclass(frozen=True, eq=False)
class At:
    """Where an edit is at work: one value on its way, in one build.

    Attributes:
        passing: the value, with its path.
        mode: a `ModeKeys` value.
        by_example: whether the first dimension of the value is the batch.
        numbers: the numbers of the edit.
        seed: for random ops of the edit; the same whenever the same model is built.
        where: the call and the edit, for errors.
    """

    passing: Passing
    mode: str
    by_example: bool
    numbers: Numbers
    seed: int | None
    where: str

    @property
    def path(self) -> str:
        """The path of the value."""
        return self.passing.path

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The sizes that units are counted in: those of one example, or of a value without examples."""
        shape = self.passing.value.shape
        if shape.rank is None:
            return None
        return tuple(shape.as_list()[1:] if self.by_example else shape.as_list())

    def error(self, problem: str) -> UsageError:
        """An error of this edit at this value."""
        return UsageError(f"{self.where}: {self.path!r} {problem}")

    def value_text(self) -> str:
        """Type and shape of the value: `float32 ?×32`."""
        value = self.passing.value
        sizes = "of unknown rank" if value.shape.rank is None else shape_text(value.shape.as_list())
        return f"{value.dtype.name} {sizes}"


@dataclass(frozen=True, eq=False, repr=False)
class Edit:
    """A change of values on their way through a model.

    Attributes:
        path: which values: a path, a glob, a layer class, a predicate, or a list of those.
        by_place: the positional settings after the path.
    """

    by_place: ClassVar[tuple[str, ...]] = ()

    path: Any

    def changed(self, value: Any, at: At) -> Any:
        """The tensor that takes the place of `value`, built in the graph of the model."""
        raise NotImplementedError

    def changed_together(self, places: Sequence[At]) -> list[Any] | None:
        """What becomes of values that pass together, in order; None where each is changed by itself."""
        return None

    @property
    def form(self) -> tuple[Any, ...]:
        """What the graph depends on. Edits of one form differ in numbers only, and share a graph."""
        return (type(self), *(self._form_of(one.name) for one in dataclasses.fields(self)))

    def _form_of(self, name: str) -> Any:
        return _form(getattr(self, name))

    def __repr__(self) -> str:
        names = [one.name for one in dataclasses.fields(self) if one.name not in ("path", *self.by_place)]
        shown = [_shown(getattr(self, name)) for name in ("path", *self.by_place)]
        shown += [f"{name}={_shown(getattr(self, name))}" for name in names if getattr(self, name) is not None]
        return f"lw.{type(self).__name__.lower()}({', '.join(shown)})"


def on_values(value: Any, change: Callable[[Any], Any]) -> Any:
    """Changes the numbers of a tensor: those that a sparse or ragged one has, or the slices of a gradient."""
    if isinstance(value, tf.SparseTensor):
        return value.with_values(change(value.values))
    if isinstance(value, tf.RaggedTensor):
        return value.with_flat_values(change(value.flat_values))
    if isinstance(value, tf.IndexedSlices):
        return tf.IndexedSlices(change(value.values), value.indices, value.dense_shape)
    return change(value)


def is_array(value: Any) -> bool:
    """Whether a setting of an edit is a number or several, rather than a function or a store of captured values."""
    if isinstance(value, int | float | complex | str | bytes | list | tuple):
        return True
    return hasattr(value, "__array__")


def _form(value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if callable(value):
        return value
    if isinstance(value, list | tuple) and not all(isinstance(one, int | float) for one in value):
        return tuple(_form(one) for one in value)
    return (np.shape(value), np.asarray(value).dtype.kind) if is_array(value) else id(value)


def _shown(value: Any) -> str:
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        array = np.asarray(value)
        return f"<array {shape_text(array.shape)} {array.dtype.name}>" if array.ndim else repr(array.item())
    if callable(value):
        return getattr(value, "__qualname__", repr(value)).rpartition("<locals>.")[2]
    if isinstance(value, list | tuple) and len(value) > 8:
        return f"[{', '.join(map(_shown, value[:6]))}, … {len(value)} in all]"
    return repr(value)
