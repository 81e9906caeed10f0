"""Is this source written for TensorFlow 1 or for TensorFlow 2? Read from the text alone; nothing is run or imported.

Takes Python source; gives a `Spelling`: which names of `tensorflow` it uses that only one of the two ever had. Most
modules of most programs use neither and are neutral: they mean whatever their program means.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from lightwell.tf1.spelling_names import METHODS_ONLY_IN_1, ONLY_IN_1, ONLY_IN_2, PACKAGES_ONLY_IN_1


class Version(Enum):
    """Which TensorFlow a source was written for."""

    TF1 = "1"
    TF2 = "2"
    NEUTRAL = "either"


@dataclass(frozen=True)
class Spelling:
    """What a source gives away.

    Attributes:
        only_in_1: names it uses that only TensorFlow 1 had, as `tf.layers`, `tf.train.AdamOptimizer`.
        only_in_2: names it uses that only TensorFlow 2 has, as `tf.random.set_seed`.
    """

    only_in_1: tuple[str, ...]
    only_in_2: tuple[str, ...]

    @property
    def version(self) -> Version:
        """The version with more names; TensorFlow 1 on a tie, because its namespace here falls back to today's."""
        if not self.only_in_1 and not self.only_in_2:
            return Version.NEUTRAL
        return Version.TF1 if len(self.only_in_1) >= len(self.only_in_2) else Version.TF2


def read_spelling(source: str | bytes) -> Spelling:
    """Read a source. One that does not parse is neutral: running it will tell its author more than we could."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return Spelling((), ())
    paths = sorted({*_imported_names(tree), *_used_names(tree)})
    methods = sorted(f".{name}()" for name in set(_called_methods(tree)) & METHODS_ONLY_IN_1)
    return Spelling(
        only_in_1=(*(f"tf.{path}" for path in paths if _is_in(ONLY_IN_1, path)), *methods),
        only_in_2=tuple(f"tf.{path}" for path in paths if _is_in(ONLY_IN_2, path)),
    )


def _is_in(table: Mapping[str, frozenset[str]], path: str) -> bool:
    """Whether `path`, or a namespace on the way to it, is in the table: `layers.dense` is there because `layers` is."""
    parts = path.split(".")
    if table is ONLY_IN_1 and parts[0] in PACKAGES_ONLY_IN_1:
        return True
    return any(part in table.get(".".join(parts[:depth]), ()) for depth, part in enumerate(parts))


def _aliases(tree: ast.AST) -> dict[str, str]:
    """Local names bound to `tensorflow` or to a namespace of it -> path of that namespace (`""` for tensorflow)."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top, _, path = alias.name.partition(".")
                if top == "tensorflow":
                    found[alias.asname or "tensorflow"] = path if alias.asname else ""
        elif isinstance(node, ast.ImportFrom) and _is_tensorflow(node):
            _, _, path = (node.module or "").partition(".")
            for alias in node.names:
                found[alias.asname or alias.name] = f"{path}.{alias.name}".lstrip(".")
    return found


def _imported_names(tree: ast.AST) -> Iterator[str]:
    """Paths that import statements name: `from tensorflow.contrib import slim` names `contrib.slim`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[2] for alias in node.names if alias.name.startswith("tensorflow."))
        elif isinstance(node, ast.ImportFrom) and _is_tensorflow(node):
            _, _, path = (node.module or "").partition(".")
            yield from (f"{path}.{alias.name}".lstrip(".") for alias in node.names)


def _used_names(tree: ast.AST) -> Iterator[str]:
    """Paths read as attributes of what was imported: `tf.train.AdamOptimizer` gives `train.AdamOptimizer`."""
    aliases = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            root, parts = _chain(node)
            if root in aliases:
                yield ".".join(filter(None, [aliases[root], *parts]))


def _called_methods(tree: ast.AST) -> Iterator[str]:
    """Names of methods called on anything but `tensorflow` itself."""
    aliases = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root, parts = _chain(node.func)
            if root not in aliases:
                yield parts[-1]


def _chain(node: ast.Attribute) -> tuple[str, list[str]]:
    """Split `a.b.c` into `a` and `[b, c]`; the root is empty when it is not a plain name."""
    parts: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        parts.insert(0, inner.attr)
        inner = inner.value
    return (inner.id if isinstance(inner, ast.Name) else ""), parts


def _is_tensorflow(node: ast.ImportFrom) -> bool:
    return node.level == 0 and (node.module or "").partition(".")[0] == "tensorflow"
