"""ONNX: from a SavedModel's frozen graph through `tf2onnx`; called through `onnxruntime`. Both come with an extra."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from lightwell.base.keys import ModeKeys
from lightwell.errors import UsageError, reason_of
from lightwell.estimator.export.conversions.loaded_graph import loaded_graph
from lightwell.estimator.export.reading import SavedModelFiles

_OPSET = 17


def to_onnx(files: SavedModelFiles, signature: str, select_tf_ops: bool) -> bytes:
    """The model as the content of an `.onnx` file; its inputs and outputs have the names of the signature.

    Raises:
        UsageError: ops cannot be converted, and the text names them; or a package is missing.
    """
    if select_tf_ops:
        raise UsageError("ONNX: ops of TensorFlow cannot stay in it; leave select_tf_ops out.")
    converter = _package("tf2onnx.convert")
    graph = files.graph(ModeKeys.PREDICT)
    with loaded_graph(graph, files.weights, files.assets(graph)) as model:
        frozen = model.frozen(signature)
    signature_def = graph.signature_def[signature]
    inputs = {info.name: name for name, info in signature_def.inputs.items()}
    outputs = {info.name: name for name, info in signature_def.outputs.items()}
    tf2onnx_log = logging.getLogger("tf2onnx")
    level = tf2onnx_log.level
    tf2onnx_log.setLevel(logging.CRITICAL)
    try:
        model, _ = converter.from_graph_def(
            frozen,
            input_names=list(inputs),
            output_names=list(outputs),
            opset=_OPSET,
            tensors_to_rename={**inputs, **outputs},
        )
    except Exception as error:  # tf2onnx raises errors of many classes
        raise UsageError(f"ONNX: the model cannot be converted: {reason_of(error)}.") from error
    finally:
        tf2onnx_log.setLevel(level)
    _check_ops(model)
    return bytes(model.SerializeToString())


def call_onnx(content: bytes, signature: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of the model for arrays.

    Raises:
        UsageError: it does not run here.
    """
    runtime = _package("onnxruntime")
    try:
        session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        taken = {one.name for one in session.get_inputs()}
        feeds = {name: _as_feed(array) for name, array in arrays.items() if name in taken}
        return dict(zip(names, session.run(names, feeds), strict=True))
    except Exception as error:  # its exceptions have no common base
        raise UsageError(f"the converted model does not run: {reason_of(error)}.") from error


def _check_ops(model: Any) -> None:
    """Refuses a model that still has ops of TensorFlow, which no runtime knows."""
    known = _package("onnx").defs
    left = sorted({n.op_type for n in model.graph.node if not n.domain and not known.has(n.op_type)})
    if left:
        raise UsageError(
            f"ONNX: the model cannot be converted, as ONNX has no op for {', '.join(left)}. Do this step outside of "
            "the model, such as a look-up of words in a table, and feed what comes of it."
        )


def _as_feed(array: Any) -> Any:
    if array.dtype != object:
        return array
    texts = [one.decode() if isinstance(one, bytes) else one for one in array.ravel().tolist()]
    return np.array(texts, dtype=object).reshape(array.shape)


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"ONNX: the package {name.partition('.')[0]} is not installed. Install what the conversion needs: "
            'pip install "lightwell[onnx]".'
        ) from error
