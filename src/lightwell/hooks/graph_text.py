"""A graph as text, as `graph.pbtxt` has it: what `text_format` writes, byte for byte, in a fraction of the time.

Nodes of a graph differ in their names; their attributes are mostly the same few, which are put into words once.
"""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf
from google.protobuf import text_format

_PLAIN = re.compile(r"[ !#-&(-\[\]-~]*").fullmatch  # nothing in it that text has to escape
_KNOWN_FIELDS = frozenset(["name", "op", "input", "device", "attr"])


def graph_as_text(graph_def: Any) -> str:
    """The text of a `GraphDef`."""
    words: dict[bytes, str] = {}
    rest = tf.compat.v1.GraphDef()
    for field, value in graph_def.ListFields():
        if field.name != "node":
            getattr(rest, field.name).MergeFrom(value)
    return "".join([*(_node(node, words) for node in graph_def.node), text_format.MessageToString(rest)])


def _node(node: Any, words: dict[bytes, str]) -> str:
    lines = [("name", node.name), ("op", node.op), *(("input", one) for one in node.input)]
    lines += [("device", node.device)] if node.device else []
    known = all(field.name in _KNOWN_FIELDS for field, _ in node.ListFields())
    if not known or not all(_PLAIN(text) for _, text in lines):
        return text_format.MessageToString(tf.compat.v1.GraphDef(node=[node]))
    attributes = [_attribute(key, node.attr[key], words) for key in sorted(node.attr)]
    return "".join(["node {\n", *(f'  {key}: "{text}"\n' for key, text in lines), *attributes, "}\n"])


def _attribute(key: str, value: Any, words: dict[bytes, str]) -> str:
    serialized = value.SerializeToString()
    if serialized not in words:
        lines = text_format.MessageToString(value).splitlines(keepends=True)
        words[serialized] = "".join(["    value {\n", *(f"      {line}" for line in lines), "    }\n"])
    return f'  attr {{\n    key: "{key}"\n{words[serialized]}  }}\n'
