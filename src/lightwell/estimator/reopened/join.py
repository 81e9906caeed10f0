"""Maps the inputs of a signature, by their tensor names, to the features and labels of `input_fn`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import InputFnError

_SINGLE_LABEL = "label"  # the name that exporters use for a single label


def joined(inputs: Mapping[str, Any], features: Any, labels: Any, where: str) -> dict[str, Any]:
    """The tensors that replace the inputs of a signature.

    Args:
        inputs: name to `TensorInfo`.
        features: the features of `input_fn`.
        labels: the labels of `input_fn`, or None.
        where: the signature, for errors.

    Raises:
        InputFnError: an input is missing, or has another type or shape.
    """
    tensors = {
        **_by_name(features, _single_feature(inputs)),
        **(_by_name(labels, _SINGLE_LABEL) if labels is not None else {}),
    }
    missing = sorted(set(inputs) - set(tensors))
    if missing:
        fed = ", ".join(f"{name} ({_type_text(info)})" for name, info in sorted(inputs.items()))
        hint = ""
        if len(inputs) == 1 and all(tf.as_dtype(info.dtype) == tf.string for info in inputs.values()):
            hint = " It may be one that parses serialised tf.Example protos."
        raise InputFnError(
            f"{where} is fed {fed}, and input_fn gave {sorted(tensors) or 'nothing'}: {missing} is missing.{hint} "
            "Return a dict with these names from input_fn."
        )
    extra = sorted(set(tensors) - set(inputs))
    if extra:
        logger.info("%s does not take %s; what input_fn gives for it is left aside.", where, extra)
    input_map: dict[str, Any] = {}
    for name, info in inputs.items():
        input_map.update(_parts(name, info, tensors[name], where))
    return input_map


def tensor_names(infos: Mapping[str, Any]) -> set[str]:
    """The names of the tensors that a signature's inputs or outputs stand for."""
    return {name for info in infos.values() for name in (_sparse_names(info) if _is_sparse(info) else [info.name])}


def _by_name(structure: Any, single: str) -> dict[str, Any]:
    """Tensors by the name they are fed by; in nested dicts `outer/inner`."""
    if not isinstance(structure, Mapping):
        return {single: structure}
    tensors = {}
    for name, part in structure.items():
        for below, tensor in _by_name(part, "").items():
            tensors[f"{name}/{below}" if below else str(name)] = tensor
    return tensors


def _single_feature(inputs: Mapping[str, Any]) -> str:
    others = [name for name in inputs if name != _SINGLE_LABEL]
    return others[0] if len(others) == 1 else "features"


def _parts(name: str, info: Any, tensor: Any, where: str) -> dict[str, Any]:
    if _is_sparse(info) != isinstance(tensor, tf.SparseTensor) or isinstance(tensor, tf.RaggedTensor):
        kind = "a SparseTensor" if _is_sparse(info) else "a dense tensor"
        raise InputFnError(f"{where}: {name!r} must be {kind}, and input_fn gave {tensor!r}.")
    values = tensor.values if isinstance(tensor, tf.SparseTensor) else tensor
    dtype = tf.as_dtype(info.dtype)
    if values.dtype != dtype:
        raise InputFnError(
            f"{where}: {name!r} must be of type {dtype.name}, and input_fn gave {values.dtype.name}. Cast it there: "
            f"tf.cast({name.rpartition('/')[2]}, tf.{dtype.name})."
        )
    if _is_sparse(info):
        return dict(zip(_sparse_names(info), (tensor.values, tensor.indices, tensor.dense_shape), strict=True))
    shape = tf.TensorShape(info.tensor_shape)
    if not shape.is_compatible_with(tensor.shape):
        raise InputFnError(f"{where}: {name!r} must have shape {shape}, and input_fn gave {tensor.shape}.")
    return {info.name: tensor}


def _is_sparse(info: Any) -> bool:
    return bool(info.WhichOneof("encoding") == "coo_sparse")


def _sparse_names(info: Any) -> list[str]:
    sparse = info.coo_sparse
    return [sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name]


def _type_text(info: Any) -> str:
    form = "sparse " if _is_sparse(info) else ""
    return f"{form}{tf.as_dtype(info.dtype).name} {tf.TensorShape(info.tensor_shape)}"
