"""Decides whether a source is written for TensorFlow 1 or 2, from its text alone.

`read_spelling` returns a `Spelling`: the names it uses that only one of the two has. Most modules use neither and are
neutral: they follow their program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from lightwell.compat.tf1.name_uses import NameUse, read_uses
from lightwell.compat.tf1.spelling_names import METHODS_ONLY_IN_1, ONLY_IN_1, ONLY_IN_2, PACKAGES_ONLY_IN_1
from lightwell.foreign import private_columns


class Version(Enum):
    """Which TensorFlow a source was written for."""

    TF1 = "1"
    TF2 = "2"
    NEUTRAL = "either"


@dataclass(frozen=True)
class Spelling:
    """The names in a source that tell the versions apart.

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


def read_spelling(source: str | bytes | ast.AST) -> Spelling:
    """Read a source, or its tree. One that does not parse is neutral: running it gives a better error."""
    try:
        tree = source if isinstance(source, ast.AST) else ast.parse(source)
    except (SyntaxError, ValueError):
        return Spelling((), ())
    uses = read_uses(tree)
    paths = sorted({name.partition(".")[2] for use in uses for name in use.names})
    methods = sorted(f".{name}()" for name in set(_called_methods(tree, uses)) & METHODS_ONLY_IN_1)
    return Spelling(
        only_in_1=(*(f"tf.{path}" for path in paths if _is_in(ONLY_IN_1, path)), *methods),
        only_in_2=tuple(f"tf.{path}" for path in paths if _is_in(ONLY_IN_2, path)),
    )


def _is_in(table: Mapping[str, frozenset[str]], path: str) -> bool:
    """Whether `path`, or a namespace on the way to it, is in the table: `layers.dense` is there because `layers` is."""
    parts = path.split(".")
    if table is ONLY_IN_1 and (parts[0] in PACKAGES_ONLY_IN_1 or _is_old_column(path)):
        return True
    return any(part in table.get(".".join(parts[:depth]), ()) for depth, part in enumerate(parts))


def _is_old_column(path: str) -> bool:
    """Whether `path` is a private class of columns, which columns were instances of in TensorFlow 1 only."""
    module, _, name = f"tensorflow.{path}".rpartition(".")
    return module == private_columns.OLD_MODULE and name in private_columns.CHANGED


def _called_methods(tree: ast.AST, uses: Iterable[NameUse]) -> Iterator[str]:
    """Names of methods that are called on something else than `tensorflow` itself."""
    functions = {(name.rpartition(".")[2], use.line) for use in uses for name in use.names}
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and (called.attr, called.lineno) not in functions:
            yield called.attr
