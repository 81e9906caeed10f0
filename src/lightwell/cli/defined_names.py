"""The names that an installed module defines, read from its file: nothing is imported.

Follows `import *`, and reads the messages of a generated protobuf module from its descriptor.
"""

from __future__ import annotations

import ast
import functools
import os
from collections.abc import Callable, Iterator

ANY = "*"
"""In place of names that cannot be read: those of a compiled module."""


def defines(file: str, name: str, find: Callable[[str], str | None]) -> bool:
    """Whether a module defines a name, or may define it.

    Args:
        file: the file of the module.
        name: the name.
        find: the file of a module, by its name.
    """
    names = all_names(file, find)
    return name in names or ANY in names


@functools.cache
def all_names(file: str, find: Callable[[str], str | None]) -> frozenset[str]:
    """The names at the top of a module, with those that it star-imports; `ANY` among them if some cannot be read."""
    if not file.endswith(".py"):
        return frozenset({ANY})
    tree = _parse(file)
    if tree is None:
        return frozenset({ANY})
    names = set(own_names(file))
    for star in _starred(tree):
        starred = find(star)
        if starred is not None and starred != file:
            names |= all_names(starred, find)
    if file.endswith("_pb2.py"):
        names |= set(_messages(tree))
    elif any(isinstance(node, ast.Call) and getattr(node.func, "id", "") == "globals" for node in ast.walk(tree)):
        names.add(ANY)  # names that it makes while it is loaded
    return frozenset(names)


@functools.cache
def own_names(file: str) -> frozenset[str]:
    """The names that a Python source defines, assigns and imports, at whatever depth."""
    tree = _parse(file)
    if tree is None:
        return frozenset()
    defined: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name.partition(".")[0] for alias in node.names} - {"*"}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    return frozenset(defined)


@functools.cache
def _parse(file: str) -> ast.Module | None:
    if not os.path.isfile(file):
        return None
    try:
        with open(file, "rb") as source:
            return ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None


def _starred(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module and not node.level:
            yield node.module


def _messages(tree: ast.Module) -> Iterator[str]:
    """Messages, enumerations and their values in the descriptor that a generated module holds as bytes."""
    from google.protobuf import descriptor_pb2
    from google.protobuf.message import DecodeError

    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, bytes)]
    for text in sorted(texts, key=len, reverse=True)[:1]:
        try:
            file = descriptor_pb2.FileDescriptorProto.FromString(text)
        except DecodeError:
            yield ANY
            continue
        yield from (message.name for message in file.message_type)
        for kind in file.enum_type:
            yield kind.name
            yield from (value.name for value in kind.value)
