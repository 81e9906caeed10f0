"""Reads the folder of a SavedModel: its graphs, signatures, weights and files. Loads no weights and builds no graph."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from google.protobuf import text_format

from lightwell.base.keys import SAVED_MODEL_FILES as _FILES
from lightwell.errors import UsageError, reason_of
from lightwell.estimator.export.saved_model import TAGS
from lightwell.foreign import private_tf

_ASSETS = "saved_model_assets"  # the collection in which TensorFlow 1 stores them


@dataclass(frozen=True, eq=False)
class SavedModelFiles:
    """A SavedModel on disk.

    Attributes:
        directory: its folder.
        graphs: its meta graphs by their tags, sorted and joined with commas: `serve`, `gpu,serve`.
    """

    directory: str
    graphs: Mapping[str, Any]

    @property
    def weights(self) -> str:
        """The checkpoint with its weights, as a prefix."""
        return os.path.join(self.directory, "variables", "variables")

    def graph(self, mode: str) -> Any:
        """The meta graph for a mode, or None."""
        return self.graphs.get(TAGS[mode])

    def free_scope(self, start: str) -> str:
        """A name scope that none of the graphs uses."""
        taken = {node.name.split("/")[0] for graph in self.graphs.values() for node in graph.graph_def.node}
        names = (start if number == 0 else f"{start}_{number}" for number in itertools.count())
        return next(name for name in names if name not in taken)

    def assets(self, graph: Any) -> dict[str, str]:
        """The files that a graph reads: the name of the tensor that holds the path, to where the file is."""
        definitions = list(graph.asset_file_def)
        for packed in graph.collection_def[_ASSETS].any_list.value if _ASSETS in graph.collection_def else ():
            definition = tf.compat.v1.MetaGraphDef().asset_file_def.add()
            definition.MergeFromString(packed.value)
            definitions.append(definition)
        folder = os.path.join(self.directory, "assets")
        return {one.tensor_info.name: os.path.join(folder, one.filename) for one in definitions}


def read_saved_model(directory: Any, where: str) -> SavedModelFiles:
    """Opens a SavedModel's folder.

    Args:
        directory: the folder.
        where: the name of the caller, for errors.

    Raises:
        UsageError: it holds no SavedModel, or one that cannot be read; the text names those nearby.
    """
    folder = os.fsdecode(directory)
    file = next((path for path in _places(folder) if tf.io.gfile.exists(path)), None)
    if file is None:
        raise UsageError(_missing_text(folder, where))
    message = private_tf.saved_model_proto()
    try:
        with tf.io.gfile.GFile(file, "rb") as opened:
            content = opened.read()
        if file.endswith(".pbtxt"):
            text_format.Parse(content, message)
        else:
            message.ParseFromString(content)
    except Exception as error:  # protobuf's DecodeError and ParseError have no common base but this
        raise UsageError(f"{where}: {file} is damaged: {reason_of(error)}. Export the model again.") from error
    if not message.meta_graphs:  # protobuf parses an empty file without an error
        raise UsageError(
            f"{where}: {file} is damaged: it holds no graph (its size is {len(content)} bytes). Export the model again."
        )
    return SavedModelFiles(folder, {",".join(sorted(one.meta_info_def.tags)): one for one in message.meta_graphs})


def newest_below(directory: str, max_depth: int = 4) -> str | None:
    """The newest SavedModel in the folders below one, by the number of its folder; None if there is none."""
    folders = [path for path in _below(directory, max_depth) if os.path.basename(path).isdigit()]
    return max(folders, key=lambda path: (int(os.path.basename(path)), path), default=None)


def is_saved_model(directory: Any) -> bool:
    """Whether a folder holds a SavedModel."""
    return any(tf.io.gfile.exists(path) for path in _places(os.fsdecode(directory)))


def _places(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in _FILES]


def _below(directory: str, depth: int) -> list[str]:
    if depth == 0 or not tf.io.gfile.isdir(directory):
        return []
    folders = []
    for name in sorted(tf.io.gfile.listdir(directory)):
        path = os.path.join(directory, name.rstrip("/"))
        if tf.io.gfile.isdir(path):
            folders += [path] if is_saved_model(path) else _below(path, depth - 1)
    return folders


def _missing_text(folder: str, where: str) -> str:
    problem = f"has no {_FILES[0]}" if tf.io.gfile.isdir(folder) else "does not exist"
    near = _below(folder, 3) if tf.io.gfile.isdir(folder) else []
    hint = f" Below it there is {', '.join(sorted(near)[-5:])}." if near else ""
    return (
        f"{where}: {folder} {problem}; expected the folder of a SavedModel, as Estimator.export_saved_model returns "
        f"it, with {_FILES[0]} and variables/ in it.{hint}"
    )
