"""TFLite: from a SavedModel through TensorFlow's converter; called through its interpreter."""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, reason_of
from lightwell.estimator.export.reading import SavedModelFiles
from lightwell.foreign import private_tf

_LISTED = re.compile(r"^(TF Select|Flex|Custom) ops: (.+)$", re.MULTILINE)
_NAMED = re.compile(r"'tf\.(\w+)' op is neither")
_FLEX = "Flex delegate"


def to_tflite(files: SavedModelFiles, signature: str, select_tf_ops: bool) -> bytes:
    """The model as the content of a `.tflite` file.

    Args:
        files: the SavedModel.
        signature: which of its signatures.
        select_tf_ops: whether ops that TFLite does not have may stay TensorFlow's, for runtimes that link them in.

    Raises:
        UsageError: ops cannot be converted; the text names them.
    """
    with _unchanged_log_handlers(), private_tf.eager_mode():
        converter = tf.lite.TFLiteConverter.from_saved_model(
            files.directory, signature_keys=[signature], tags={"serve"}
        )
        if select_tf_ops:
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
        try:
            return bytes(converter.convert())
        except Exception as error:  # the converter's own error has no public name
            raise UsageError(_refusal(str(error), error, select_tf_ops)) from error


def call_tflite(content: bytes, signature: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of the model for arrays.

    Raises:
        UsageError: it does not run here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of its removal at every use
        try:
            runner = _interpreter()(model_content=content).get_signature_runner(signature)
            return dict(runner(**arrays))
        except (RuntimeError, ValueError) as error:
            if _FLEX in str(error):
                raise UsageError(
                    "it holds ops of TensorFlow, and the TFLite interpreter of this Python has none of them. Check it "
                    "where it will run, with the select-tf-ops library linked in."
                ) from error
            raise UsageError(f"the converted model does not run: {reason_of(error)}.") from error


@contextlib.contextmanager
def _unchanged_log_handlers() -> Iterator[None]:
    """Removes the log handlers that the converter adds; with them every line would be logged twice."""
    root = logging.getLogger()
    before = list(root.handlers)
    try:
        yield
    finally:
        for handler in [handler for handler in root.handlers if handler not in before]:
            root.removeHandler(handler)


def _interpreter() -> Any:
    """The interpreter of TensorFlow, or of its successor package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interpreter = getattr(tf.lite, "Interpreter", None)
    if interpreter is not None:
        return interpreter
    try:
        return importlib.import_module("ai_edge_litert.interpreter").Interpreter
    except ImportError as error:
        raise UsageError("no TFLite interpreter is installed: pip install ai-edge-litert.") from error


def _refusal(text: str, error: Exception, select_tf_ops: bool) -> str:
    ops = sorted(
        {op.strip() for _, names in _LISTED.findall(text) for op in names.split(",")} or set(_NAMED.findall(text))
    )
    if not ops:
        return f"TFLite: the model cannot be converted: {reason_of(error)}."
    start = f"TFLite: the model cannot be converted, as TFLite has no op for {', '.join(ops)}."
    if any(op.startswith("ParseExample") for op in ops):
        return (
            f"{start} They parse serialised tf.Example protos; export with a receiver that takes the features "
            "themselves (leave serving_input_receiver_fn out, or use build_raw_serving_input_receiver_fn)."
        )
    if select_tf_ops:
        return f"{start} TensorFlow's own ops do not help with these: take them out of the model in mode PREDICT."
    return (
        f"{start} Either allow TensorFlow's own (select_tf_ops=True, --select-tf-ops) for a runtime that links them "
        "in, or do this step outside of the model."
    )
