"""Lookup tables of a program, to be read by a session."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

LOOKUPS = frozenset({"LookupTableFindV2"})
TABLES = frozenset({"HashTableV2"})


def readable_tables(graph: tf.Graph) -> dict[str, Any]:
    """The name of a table's op, to tensors with its keys and values; adds ops to the graph."""
    tables: dict[str, Any] = {}
    with graph.as_default():
        for op in [op for op in graph.get_operations() if op.type in TABLES]:
            keys, values = tf.raw_ops.LookupTableExportV2(
                table_handle=op.outputs[0], Tkeys=op.get_attr("key_dtype"), Tvalues=op.get_attr("value_dtype")
            )
            tables[op.name] = (keys, values)
    return tables


def is_size_of_table(op: tf.Operation) -> bool:
    """Whether the op is the size of a table that never changes."""
    return op.type == "LookupTableSizeV2" and op.inputs[0].op.type in TABLES
