"""`tf.contrib.tensorboard.plugins.projector`: the file that tells TensorBoard's projector which embeddings to show.

The messages are those of TensorBoard, in a pool of their own: the package may be installed beside us.
"""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

PROJECTOR_FILENAME = "projector_config.pbtxt"
_PACKAGE = "tensorboard"
# Message -> its fields, in the order of their numbers: name, type, whether it repeats.
_MESSAGES = {
    "SpriteMetadata": (("image_path", "string", False), ("single_image_dim", "uint32", True)),
    "EmbeddingInfo": (
        ("tensor_name", "string", False),
        ("metadata_path", "string", False),
        ("bookmarks_path", "string", False),
        ("tensor_shape", "uint32", True),
        ("sprite", "SpriteMetadata", False),
        ("tensor_path", "string", False),
    ),
    "ProjectorConfig": (
        ("model_checkpoint_path", "string", False),
        ("embeddings", "EmbeddingInfo", True),
        ("model_checkpoint_dir", "string", False),
    ),
}


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="projector_config.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, repeats) in enumerate(fields, start=1):
            added = message.field.add(name=field, number=number)
            added.label = added.LABEL_REPEATED if repeats else added.LABEL_OPTIONAL
            if kind in _MESSAGES:
                added.type, added.type_name = added.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                added.type = added.TYPE_STRING if kind == "string" else added.TYPE_UINT32
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


_CLASSES = _classes()
SpriteMetadata, EmbeddingInfo, ProjectorConfig = (_CLASSES[name] for name in _MESSAGES)


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes the configuration into the folder of a writer of summaries, where TensorBoard finds it.

    Args:
        summary_writer: a `tf.summary.FileWriter`, or the folder itself.
        config: a `ProjectorConfig`.

    Raises:
        ValueError: the writer has no folder.
    """
    is_folder = isinstance(summary_writer, str | os.PathLike)
    folder = os.fspath(summary_writer) if is_folder else summary_writer.get_logdir()
    if not folder:
        raise ValueError(
            f"visualize_embeddings writes {PROJECTOR_FILENAME} into the folder of the summary writer, but "
            f"{summary_writer!r} has no folder. Make it with one: tf.summary.FileWriter(folder)."
        )
    if not is_folder and isinstance(folder, bytes):
        folder = folder.decode()
    tf.io.gfile.makedirs(folder)
    with tf.io.gfile.GFile(os.path.join(folder, PROJECTOR_FILENAME), "w") as file:
        file.write(text_format.MessageToString(config))
