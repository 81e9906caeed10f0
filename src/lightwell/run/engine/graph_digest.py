"""`NodeDigests`: digests of the nodes of a graph, for the key of a program and the identity of a capture.

TensorFlow numbers the names of functions over a process, and so their names count for nothing: a function is identified
by its content. So are the tokens of ops that call Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator
from typing import Any

_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")


class NodeDigests:
    """Digests of the nodes of one graph.

    Args:
        library: the functions of the graph.
        array_ops: names of the ops that yield arrays of the input; their tokens do not count.
        across_processes: whether another process must come to the same digests. Then no token counts, nor does the
            declaration of a function beyond its inputs and outputs.
    """

    def __init__(self, library: Any, array_ops: Container[str] = (), *, across_processes: bool = False) -> None:
        self._functions = {function.signature.name: function for function in library.function}
        self._array_ops, self._across_processes = array_ops, across_processes
        self._content_names: dict[str, str] = {}

    def digest(self, node: Any) -> bytes:
        """The digest of a node of the graph."""
        return self._digest(node, is_array=node.name in self._array_ops)

    def _digest(self, node: Any, is_array: bool) -> bytes:
        drops_token = is_array or (self._across_processes and node.op in _PYTHON)
        if drops_token or (self._functions and (node.op in self._functions or any(_called_functions(node)))):
            original, node = node, type(node)()
            node.CopyFrom(original)
            node.op = self._content_name(node.op)
            for function in _called_functions(node):
                function.name = self._content_name(function.name)
            if drops_token:
                node.attr["token"].s = b""
        return hashlib.blake2b(node.SerializeToString(deterministic=True), digest_size=16).digest()

    def _content_name(self, name: str) -> str:
        """The content digest of a function, in place of its name; other names as they are."""
        if name not in self._functions:
            return name
        if name not in self._content_names:
            self._content_names[name] = ""  # one that calls itself is identified by the rest of it
            function = self._functions[name]
            digest = hashlib.blake2b(digest_size=16)
            for node in function.node_def:
                digest.update(self._digest(node, is_array=False))
            digest.update(repr([sorted(function.ret.items()), len(function.signature.input_arg)]).encode())
            if not self._across_processes:
                digest.update(_declaration(function))
            self._content_names[name] = digest.hexdigest()
        return self._content_names[name]


def _called_functions(node: Any) -> Iterator[Any]:
    for attribute in node.attr.values():
        kind = attribute.WhichOneof("value")  # far cheaper than to read every list
        if kind == "func":
            yield attribute.func
        elif kind == "list":
            yield from attribute.list.func


def _declaration(function: Any) -> bytes:
    """All of a function but its body and its name."""
    declaration = type(function)()
    declaration.CopyFrom(function)
    declaration.ClearField("node_def")
    declaration.signature.name = ""
    return bytes(declaration.SerializeToString(deterministic=True))
