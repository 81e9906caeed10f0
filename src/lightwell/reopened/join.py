"""Which tensor of a signature each feature and label goes to.

Takes a signature's inputs and what `input_fn` gave; gives a map from tensor names of the SavedModel to tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import InputFnError
from lightwell.log import logger

_SINGLE_LABEL = "label"  # the name that exporters give to a label that comes alone


def joined(inputs: Mapping[str, Any], features: Any, labels: Any, where: str) -> dict[str, Any]:
    """The tensors that take the place of a signature's inputs.

    Args:
        inputs: name to `TensorInfo`.
        features: what `input_fn` gave.
        labels: likewise; None where there are none.
        where: the signature, for errors.

    Raises:
        InputFnError: something that is fed is missing, or has another type or shape.
    """
    given = {
        **_named(features, _single_feature(inputs)),
        **(_named(labels, _SINGLE_LABEL) if labels is not None else {}),
    }
    missing = sorted(set(inputs) - set(given))
    if missing:
        fed = ", ".join(f"{name} ({_told(info)})" for name, info in sorted(inputs.items()))
        hint = ""
        if len(inputs) == 1 and all(tf.as_dtype(info.dtype) == tf.string for info in inputs.values()):
            hint = " It may be one that parses serialised tf.Example protos."
        raise InputFnError(
            f"{where} is fed {fed}, and input_fn gave {sorted(given) or 'nothing'}: {missing} is missing.{hint} Return "
            "a dict with these names from input_fn."
        )
    extra = sorted(set(given) - set(inputs))
    if extra:
        logger.info("%s does not take %s; what input_fn gives for it is left aside.", where, extra)
    found: dict[str, Any] = {}
    for name, info in inputs.items():
        found.update(_parts(name, info, given[name], where))
    return found


def tensor_names(infos: Mapping[str, Any]) -> set[str]:
    """The names of the tensors that a signature's inputs or outputs stand for."""
    return {name for info in infos.values() for name in (_sparse_names(info) if _is_sparse(info) else [info.name])}


def _named(structure: Any, single: str) -> dict[str, Any]:
    """Tensors by the name they are fed by; in nested dicts `outer/inner`."""
    if not isinstance(structure, Mapping):
        return {single: structure}
    found = {}
    for name, part in structure.items():
        for below, tensor in _named(part, "").items():
            found[f"{name}/{below}" if below else str(name)] = tensor
    return found


def _single_feature(inputs: Mapping[str, Any]) -> str:
    others = [name for name in inputs if name != _SINGLE_LABEL]
    return others[0] if len(others) == 1 else "features"


def _parts(name: str, info: Any, given: Any, where: str) -> dict[str, Any]:
    if _is_sparse(info) != isinstance(given, tf.SparseTensor) or isinstance(given, tf.RaggedTensor):
        kind = "a SparseTensor" if _is_sparse(info) else "a dense tensor"
        raise InputFnError(f"{where}: {name!r} must be {kind}, and input_fn gave {given!r}.")
    values = given.values if isinstance(given, tf.SparseTensor) else given
    dtype = tf.as_dtype(info.dtype)
    if values.dtype != dtype:
        raise InputFnError(
            f"{where}: {name!r} must be of type {dtype.name}, and input_fn gave {values.dtype.name}. Cast it there: "
            f"tf.cast({name.rpartition('/')[2]}, tf.{dtype.name})."
        )
    if _is_sparse(info):
        return dict(zip(_sparse_names(info), (given.values, given.indices, given.dense_shape), strict=True))
    shape = tf.TensorShape(info.tensor_shape)
    if not shape.is_compatible_with(given.shape):
        raise InputFnError(f"{where}: {name!r} must have shape {shape}, and input_fn gave {given.shape}.")
    return {info.name: given}


def _is_sparse(info: Any) -> bool:
    return bool(info.WhichOneof("encoding") == "coo_sparse")


def _sparse_names(info: Any) -> list[str]:
    sparse = info.coo_sparse
    return [sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name]


def _told(info: Any) -> str:
    form = "sparse " if _is_sparse(info) else ""
    return f"{form}{tf.as_dtype(info.dtype).name} {tf.TensorShape(info.tensor_shape)}"
