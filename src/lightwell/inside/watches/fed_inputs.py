"""The input of a predictor: placeholders in the structure of a model's features, and arrays to feed them.

The structure comes from the description in `model_dir`, from specs or arrays, from one look at an `input_fn`, or from a
serving input receiver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import InputFnError, UsageError
from lightwell.inside.paths.describe import Description
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.show import shape_text
from lightwell.run.inputs.arrays import TEXT
from lightwell.run.inputs.call import call_input_fn


class FedInputs:
    """An `input_fn` whose tensors are placeholders, so that a program can be fed arrays.

    Args:
        inputs: specs or arrays, an `input_fn`, or a serving input receiver function.
        params: for an `input_fn` that asks for it.
        config: likewise.
        verb: who asks, for messages.
    """

    def __init__(self, inputs: Any, params: Any, config: Any, verb: str = "predictor") -> None:
        self._inputs = inputs
        self._params = params
        self._config = config
        self._verb = verb
        self.feeds: Any = None
        self.is_received = False

    def input_fn(self) -> Any:
        """Makes the placeholders in the graph being built.

        Afterwards `feeds` holds them, and `is_received` says whether they are those of a serving input receiver.
        """
        if not callable(self._inputs):
            self.feeds = _placeholders(self._inputs, self._verb)
            return self.feeds
        result = call_input_fn(self._inputs, mode=ModeKeys.PREDICT, params=self._params, config=self._config)
        if hasattr(result, "receiver_tensors"):
            self.feeds, self.is_received = result.receiver_tensors, True
            return result.features
        example = result.element_spec if isinstance(result, tf.data.Dataset) else result
        self.feeds = _placeholders(example[0] if isinstance(example, tuple) else example, self._verb)
        return self.feeds


class Feeder:
    """Turns the input of a predictor's call into arrays, in the order of the tensors that they feed."""

    def __init__(self, feeds: Any) -> None:
        self._takes_dict = isinstance(feeds, Mapping)
        named = flat_names(feeds)
        self.tensors = list(named.values())
        self._fields = [_Field(name, tensor) for name, tensor in named.items()]
        self._names = named.keys()

    def arrays(self, features: Any) -> list[Any]:
        """The arrays to feed.

        Raises:
            UsageError: the input has another structure or shape than the model's.
        """
        if self._takes_dict and not isinstance(features, Mapping):
            raise UsageError(
                f"predictor: the model's input is a dict with {sorted(self._names)}, got {type(features).__name__}."
            )
        arrays = flat_names(features)
        if arrays.keys() != self._names:
            missing, extra = sorted(self._names - arrays.keys()), sorted(arrays.keys() - self._names)
            close = nearest_paths(extra[0], missing) if extra else []
            hint = f" Did you mean {close[0]!r} by {extra[0]!r}?" if close else ""
            if arrays and missing and not extra:
                hint = " What the model does not need can be left out once it is told so: est.predictor(features)."
            lacks = f"lacks {missing}" if missing else ""
            has = f"has {extra} too many" if extra else ""
            raise UsageError(f"predictor: the input {' and '.join(filter(None, (lacks, has)))}.{hint}")
        return [field.array(arrays[field.name]) for field in self._fields]

    def __repr__(self) -> str:
        return ", ".join(f"{field.name or 'features'} {shape_text(field.sizes or ())}" for field in self._fields)


class _Field:
    """One tensor of the input, with what is needed to check an array for it."""

    def __init__(self, name: str, tensor: Any) -> None:
        self.name = name
        self.sizes = None if tensor.shape.rank is None else tuple(tensor.shape.as_list())
        self._dtype = None if tensor.dtype == tf.string else tensor.dtype.as_numpy_dtype

    def array(self, value: Any) -> Any:
        array = self._typed(value)
        sizes = self.sizes
        if sizes is not None:
            fits = len(sizes) == array.ndim and all(
                s is None or s == n for s, n in zip(sizes, array.shape, strict=True)
            )
            if not fits:
                raise UsageError(
                    f"predictor: input {self._label} must have shape {shape_text(sizes)} (batch first), "
                    f"got {shape_text(array.shape)}."
                )
        return array

    def _typed(self, value: Any) -> Any:
        expected = "strings" if self._dtype is None else np.dtype(self._dtype).name
        try:
            array = np.asarray(value, dtype=self._dtype)
        except (TypeError, ValueError) as error:
            raise UsageError(f"predictor: input {self._label} must be an array of {expected}: {error}.") from error
        if self._dtype is None and not array.size:
            return array.astype(object)  # an empty list says nothing of its type
        if self._dtype is None and array.dtype != object and array.dtype.kind not in TEXT:
            raise UsageError(
                f"predictor: input {self._label} must be an array of strings, got {array.dtype}. The model takes text "
                "there; numbers become text by array.astype(str)."
            )
        return array

    @property
    def _label(self) -> str:
        return repr(self.name or "features")


def specs_from_description(description: Description | None, where: str, instead: str) -> Any:
    """The input's structure as training saw it.

    Args:
        description: what is known of the model.
        where: who asks, for errors: `"predictor"`.
        instead: how to tell the structure there.

    Raises:
        UsageError: nothing is known about it.
        InputFnError: it holds sparse or ragged tensors, which cannot be fed as arrays.
    """
    if description is None or not description.features:
        raise UsageError(
            f"{where}: the structure of the input is not known, as model_dir holds no description that can be read. "
            f"Pass it: {instead}."
        )
    structure: dict[str, Any] = {}
    for value in description.features:
        if value.form != "dense":
            raise _not_dense(value.form, where)
        spec = tf.TensorSpec(value.shape, value.dtype)
        names = value.path.split("/")[1:]
        if not names:
            return spec
        inner = structure
        for name in names[:-1]:
            inner = inner.setdefault(name, {})
        inner[names[-1]] = spec
    return structure


def _placeholders(example: Any, verb: str) -> Any:
    """Placeholders for a structure of specs, tensors or arrays, the batch dimension left open.

    Raises:
        InputFnError: it holds sparse or ragged tensors, which cannot be fed as arrays.
    """
    if isinstance(example, Mapping):
        return {name: _placeholders(part, verb) for name, part in example.items()}
    if isinstance(example, tf.SparseTensor | tf.SparseTensorSpec):
        raise _not_dense("sparse", verb)
    if isinstance(example, tf.RaggedTensor | tf.RaggedTensorSpec):
        raise _not_dense("ragged", verb)
    if not hasattr(example, "dtype") or not hasattr(example, "shape"):
        raise UsageError(
            f"{verb}: the input is told by tf.TensorSpec, arrays, an input_fn or a serving input receiver function, "
            f"got {example!r}."
        )
    shape = tf.TensorShape(example.shape)
    return tf.compat.v1.placeholder(example.dtype, None if shape.rank is None else [None, *shape.as_list()[1:]])


def _not_dense(form: str, where: str) -> InputFnError:
    return InputFnError(
        f"{where}: {form} features cannot be fed as arrays. Give est.{where} a serving input receiver function that "
        "parses them."
    )


def flat_names(structure: Any, prefix: str = "") -> dict[str, Any]:
    """The parts of nested dicts by name, `"outer/inner"`; the name of a structure that is no dict is empty."""
    if not isinstance(structure, Mapping):
        return {prefix: structure}
    leaves: dict[str, Any] = {}
    for name, part in structure.items():
        leaves.update(flat_names(part, f"{prefix}/{name}" if prefix else str(name)))
    return leaves
