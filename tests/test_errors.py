"""The tree of exceptions: one root, and under each the built-in that a program may already catch."""

from __future__ import annotations

import builtins
import inspect
import re
from dataclasses import dataclass

import pytest
import tensorflow as tf

from lightwell import errors


@dataclass(frozen=True)
class Drawn:
    name: str
    parent: str
    built_in: str


def drawn_tree() -> list[Drawn]:
    """The tree in the module's docstring."""
    rows, line_to_root = [], ["Exception"]
    for branch, name, built_in in re.findall(r"^    ([│ ├└─]*)(\w+)(?: \((\w+)\))?", errors.__doc__ or "", re.M):
        depth = len(branch) // 4
        line_to_root[depth + 1 :] = [name]
        rows.append(Drawn(name, line_to_root[depth], built_in))
    return rows


def test_the_docstring_draws_every_exception() -> None:
    defined = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert {row.name for row in drawn_tree()} == defined


@pytest.mark.parametrize("row", drawn_tree(), ids=lambda row: row.name)
def test_each_stands_where_it_is_drawn(row: Drawn) -> None:
    error = getattr(errors, row.name)
    assert row.parent in [base.__name__ for base in error.__bases__]
    if row.built_in:
        assert issubclass(error, getattr(builtins, row.built_in))


def test_a_model_dir_error_keeps_its_number_and_text() -> None:
    error = errors.ModelDirError(28, "no space")
    assert error.errno == 28
    assert "no space" in str(error)


_TWO_ERRORS = """Graph execution error:

Detected at node 'save/RestoreV2' defined at (most recent call last):
    File "train.py", line 3, in <module>
Detected at node 'save/RestoreV2' defined at (most recent call last):
Node: 'save/RestoreV2'
2 root error(s) found.
  (0) DATA_LOSS: Checksum does not match: stored 1 vs. calculated on the restored bytes 2
\t [[{{node save/RestoreV2}}]]
\t [[save/RestoreV2/_3]]
  (1) DATA_LOSS: Checksum does not match: stored 1 vs. calculated on the restored bytes 2
"""


def test_of_several_root_errors_the_first_is_told() -> None:
    error = tf.errors.DataLossError(None, None, _TWO_ERRORS)
    assert errors.reason_of(error) == "Checksum does not match: stored 1 vs. calculated on the restored bytes 2"
