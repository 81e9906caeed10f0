"""The messages in which TensorFlow stored boosted trees in checkpoints.

TensorFlow no longer ships their classes, so they are declared here: names, numbers and types of their fields.
"""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

from lightwell.errors import CheckpointError

PACKAGE = "lightwell_trees"
_Field = descriptor_pb2.FieldDescriptorProto
_TYPES = {"int32": _Field.TYPE_INT32, "int64": _Field.TYPE_INT64, "float": _Field.TYPE_FLOAT, "bool": _Field.TYPE_BOOL}
# Message -> its fields: number, name, type; "*" where a field is repeated, "|" where it is one of several.
_MESSAGES = {
    "Vector": "1 value float*",
    "Leaf": "1 vector Vector, 3 scalar float",
    "BucketizedSplit": (
        "1 feature_id int32, 2 threshold int32, 5 dimension_id int32, 6 default_direction int32, 3 left_id int32, "
        "4 right_id int32"
    ),
    "CategoricalSplit": "1 feature_id int32, 2 value int32, 5 dimension_id int32, 3 left_id int32, 4 right_id int32",
    "NodeMetadata": "1 gain float, 2 original_leaf Leaf",
    "Node": (
        "1 leaf Leaf|, 2 bucketized_split BucketizedSplit|, 3 categorical_split CategoricalSplit|, "
        "777 metadata NodeMetadata"
    ),
    "Tree": "1 nodes Node*",
    "PostPruneNodeUpdate": "1 new_node_id int32, 2 logit_change float*",
    "TreeMetadata": "2 num_layers_grown int32, 3 is_finalized bool, 4 post_pruned_nodes_meta PostPruneNodeUpdate*",
    "GrowingMetadata": (
        "1 num_trees_attempted int64, 2 num_layers_attempted int64, 3 last_layer_node_start int32, "
        "4 last_layer_node_end int32"
    ),
    "TreeEnsemble": (
        "1 trees Tree*, 2 tree_weights float*, 3 tree_metadata TreeMetadata*, 4 growing_metadata GrowingMetadata"
    ),
}


@functools.cache
def descriptor_source() -> bytes:
    """The declarations as `tf.io.decode_proto` takes them."""
    return b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[_file()]).SerializeToString()


def read_ensemble(serialized: bytes) -> Any:
    """A `TreeEnsemble` message.

    Raises:
        CheckpointError: the bytes are no such message.
    """
    ensemble = _ensemble_class()()
    try:
        ensemble.ParseFromString(serialized)
    except message.DecodeError as error:
        raise CheckpointError(f"The trees in the checkpoint are damaged: {error}.") from error
    return ensemble


@functools.cache
def _ensemble_class() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_file().SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.TreeEnsemble"))


def _file() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        declared = file.message_type.add(name=name)
        for text in fields.split(", "):
            number, field_name, kind = text.split(" ")
            field = declared.field.add(name=field_name, number=int(number), label=_Field.LABEL_OPTIONAL)
            if kind.endswith("*"):
                field.label = _Field.LABEL_REPEATED
            if kind.endswith("|"):
                if not declared.oneof_decl:
                    declared.oneof_decl.add(name="node")
                field.oneof_index = 0
            kind = kind.rstrip("*|")
            field.type = _TYPES.get(kind, _Field.TYPE_MESSAGE)
            if field.type == _Field.TYPE_MESSAGE:
                field.type_name = f".{PACKAGE}.{kind}"
    return file
