"""Converts a SavedModel to a file of another format, and compares the two on rows.

The file appears when it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, ModeKeys
from lightwell.base.log import logger
from lightwell.base.safe_files import replace_file
from lightwell.errors import LightwellError, UsageError, disk_error, reason_of
from lightwell.estimator.export.conversions.loaded_graph import loaded_graph
from lightwell.estimator.export.conversions.onnx import call_onnx, to_onnx
from lightwell.estimator.export.conversions.report import Conversion, Difference, differences
from lightwell.estimator.export.conversions.rows import SignatureRows, rows_for
from lightwell.estimator.export.conversions.tflite import call_tflite, to_tflite
from lightwell.estimator.export.reading import SavedModelFiles, read_saved_model


@dataclass(frozen=True)
class Converter:
    """One format: how to write it, and how to call the result."""

    make: Callable[[SavedModelFiles, str, bool], bytes]
    call: Callable[[bytes, str, Mapping[str, Any]], dict[str, Any]]


CONVERTERS: Mapping[str, Converter] = {
    "tflite": Converter(to_tflite, call_tflite),
    "onnx": Converter(to_onnx, call_onnx),
}
SAVED_MODEL = "saved_model"
FORMS = (SAVED_MODEL, *CONVERTERS)


@dataclass(frozen=True, eq=False)
class Check:
    """The rows to check a conversion on.

    Attributes:
        rows: arrays, or None for random ones.
        origin: where they come from, for the report.
    """

    rows: Any = None
    origin: str = ""


def check_form(to: str) -> None:
    """Checks the name of a format.

    Raises:
        UsageError: there is no such format.
    """
    if to not in FORMS:
        raise UsageError(f"export: to={to!r} is no form; there is {', '.join(map(repr, FORMS))}.")


def convert(
    folder: str,
    to: str,
    path: str,
    check: Check,
    *,
    source: str = "",
    signature: str | None = None,
    select_tf_ops: bool = False,
) -> Conversion:
    """Converts a SavedModel and compares the result with it.

    Args:
        folder: the SavedModel.
        to: a name in `CONVERTERS`.
        path: the file to write.
        check: rows to compare on.
        source: what the SavedModel was exported from, for the report, if it is temporary.
        signature: which signature; None for `serving_default`.
        select_tf_ops: whether ops that the format lacks may stay TensorFlow's.

    Raises:
        UsageError: it cannot be converted; the text says why.
        ModelDirError: the file cannot be written.
    """
    files = read_saved_model(folder, "export")
    graph, name = _signature(files, signature)
    rows = rows_for(graph.signature_def[name].inputs, check.rows, check.origin)
    converter = CONVERTERS[to]
    content = converter.make(files, name, select_tf_ops)
    _write(content, path)
    output_differences: tuple[Difference, ...] = ()
    problem = ""
    try:
        with loaded_graph(graph, files.weights, files.assets(graph)) as model:
            expected = model.call(name, rows.arrays)
        output_differences = differences(expected, converter.call(content, name, rows.arrays))
    except (LightwellError, tf.errors.OpError) as error:
        problem = f"{_rows_prefix(rows)}{reason_of(error)}."
    return _logged(
        Conversion(to, path, source or folder, name, rows.count, rows.origin, output_differences, problem, len(content))
    )


def compared(
    folder: str, source: str, signature: str | None, check: Check, reference: Callable[[Mapping[str, Any]], Any]
) -> Conversion:
    """Compares a SavedModel with its source: `reference` computes the expected outputs from the rows' arrays."""
    files = read_saved_model(folder, "export")
    graph, name = _signature(files, signature)
    rows = rows_for(graph.signature_def[name].inputs, check.rows, check.origin)
    output_differences: tuple[Difference, ...] = ()
    problem = ""
    try:
        with loaded_graph(graph, files.weights, files.assets(graph)) as model:
            outputs = model.call(name, rows.arrays)
        expected = reference(rows.arrays)
        by_name = expected if isinstance(expected, Mapping) else dict.fromkeys(outputs, expected)
        common = sorted(set(outputs) & set(by_name))
        if not common:
            problem = f"the signature {name!r} gives {sorted(outputs)}, and predictions are called {sorted(by_name)}."
        output_differences = differences({output: by_name[output] for output in common}, outputs)
    except (LightwellError, tf.errors.OpError) as error:
        problem = f"{_rows_prefix(rows)}{reason_of(error)}."
    size = sum(tf.io.gfile.stat(file).length for file in _all_files(folder))
    return _logged(
        Conversion(SAVED_MODEL, folder, source, name, rows.count, rows.origin, output_differences, problem, size)
    )


def _logged(conversion: Conversion) -> Conversion:
    """Logs a conversion and returns it."""
    (logger.info if conversion.is_close else logger.warning)("Exported %s", conversion)
    return conversion


def _rows_prefix(rows: SignatureRows) -> str:
    return "on made-up rows, " if rows.origin.startswith("made-up") else ""


def _signature(files: SavedModelFiles, requested: str | None) -> tuple[Any, str]:
    """The serving graph, and the name of a signature of it."""
    graph = files.graph(ModeKeys.PREDICT)
    if graph is None:
        raise UsageError(
            f"export: the SavedModel {files.directory} has no graph with the tag 'serve'; it has "
            f"{sorted(files.graphs)}. Export it for serving: estimator.export_saved_model(...)."
        )
    known = sorted(name for name in graph.signature_def if not name.startswith("__"))
    name = requested or (known[0] if len(known) == 1 else DEFAULT_SERVING_SIGNATURE)
    if name not in known:
        raise UsageError(f"export: {files.directory} has no signature {name!r}; it has {known}. Name one of them.")
    return graph, name


def _write(content: bytes, path: str) -> None:
    try:
        tf.io.gfile.makedirs(os.path.dirname(path) or ".")
        replace_file(path, content)
    except (tf.errors.OpError, OSError) as error:
        raise disk_error(
            error, f"export: {path} cannot be written: {reason_of(error)}. Name another path, or free space."
        ) from error


def _all_files(folder: str) -> list[str]:
    return [os.path.join(directory, name) for directory, _, names in tf.io.gfile.walk(folder) for name in names]
