"""Signatures of an exported graph: which tensors are fed and fetched, under which name, for which kind of call.

A signature that no server could run is omitted, and the log says why, as in `tf.estimator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, ModeKeys
from lightwell.base.log import logger
from lightwell.errors import ModelFnError
from lightwell.model.outputs import EvalOutput, ExportOutput, TrainOutput
from lightwell.model.spec import EstimatorSpec

_KINDS = {
    "Classify": "tensorflow/serving/classify",
    "Regress": "tensorflow/serving/regress",
    "Predict": "tensorflow/serving/predict",
    "Train": "tensorflow/supervised/training",
    "Eval": "tensorflow/supervised/eval",
}


def export_outputs(spec: EstimatorSpec, mode: str) -> dict[str, ExportOutput]:
    """The outputs of a mode's graph, by the name of the signature.

    Raises:
        ModelFnError: there are none.
    """
    if mode == ModeKeys.PREDICT:
        if not spec.export_outputs:
            raise ModelFnError(
                f"model_fn: the spec for mode {mode!r} has no outputs to export, export_outputs="
                f"{spec.export_outputs!r}: a SavedModel without a signature, which nobody can call. Leave "
                "export_outputs out to serve the predictions, or name some: "
                'export_outputs={"serving_default": tf.estimator.export.PredictOutput(predictions)}.'
            )
        return dict(spec.export_outputs)
    kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    predictions = spec.predictions if tf.is_tensor(spec.predictions) else spec.predictions or None
    return {mode: kind(spec.loss, predictions, spec.eval_metric_ops or None)}


def signatures(
    outputs: Mapping[str, ExportOutput],
    tensors: Mapping[str, Any],
    alternatives: Mapping[Any, Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """The signatures by name: one for each output, and one more for each alternative way to feed it."""
    included: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    groups = [("", tensors), *((f"{name}:", group) for name, group in (alternatives or {}).items())]
    for prefix, group in groups:
        for name, output in outputs.items():
            try:
                signature = output.as_signature_def(group)
            except ValueError as error:
                excluded[f"{prefix}{name}"] = str(error)
                continue
            problem = _missing_input(signature, tensors)
            if problem is None:
                included[f"{prefix}{name}"] = signature
            else:
                excluded[f"{prefix}{name}"] = problem
    _log_signatures(included, excluded)
    return included


def _missing_input(signature: Any, tensors: Mapping[str, Any]) -> str | None:
    """Why a signature's inputs do not suffice for its outputs; None if they do."""
    graph = next(iter(tf.nest.flatten(list(tensors.values()), expand_composites=True))).graph
    fed = {name for info in signature.inputs.values() for name in _names(info)}
    for key, info in signature.outputs.items():
        for name in _names(info):
            placeholder = _placeholder_behind(graph.as_graph_element(name), fed)
            if placeholder is not None:
                return (
                    f"The signature's input tensors {sorted(fed)} are insufficient to compute its output {key!r} "
                    f"({name}), which depends on the placeholder {placeholder!r}. Put that into receiver_tensors."
                )
    return None


def _placeholder_behind(tensor: Any, fed: set[str]) -> str | None:
    """The name of a placeholder that a tensor depends on and that is not fed."""
    seen: set[str] = set()
    left = [tensor]
    while left:
        one = left.pop()
        if one.name in fed or one.op.name in seen:
            continue
        seen.add(one.op.name)
        if one.op.type == "Placeholder":
            return str(one.op.name)
        left.extend(one.op.inputs)
        left.extend(output for before in one.op.control_inputs for output in before.outputs[:1])
    return None


def _names(info: Any) -> Iterator[str]:
    """The names of the tensors that a `TensorInfo` stands for."""
    kind = info.WhichOneof("encoding")
    if kind == "name":
        yield info.name
    elif kind == "coo_sparse":
        sparse = info.coo_sparse
        yield from (sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name)
    elif kind == "composite_tensor":
        for component in info.composite_tensor.components:
            yield from _names(component)


def _log_signatures(included: Mapping[str, Any], excluded: Mapping[str, str]) -> None:
    for kind, method in _KINDS.items():
        names = [name for name, signature in included.items() if signature.method_name == method]
        logger.info("Signatures INCLUDED in export for %s: %s", kind, names or None)
    if excluded:
        logger.info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
        for name, reason in excluded.items():
            logger.info("%r : %s", name, reason)
    if DEFAULT_SERVING_SIGNATURE in included:
        return
    what = "default signature" if included else "signatures"
    why = excluded.get(DEFAULT_SERVING_SIGNATURE)
    logger.warning("Export includes no %s!%s", what, "" if why is None else f" {why}")
