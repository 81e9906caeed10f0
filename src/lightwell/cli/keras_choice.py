"""Which Keras a program needs: Keras 3 with the names of Keras 2, or Keras 2 itself, the package `tf_keras`.

Reads the program's sources, before TensorFlow is imported: TensorFlow chooses its Keras in its own import.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from lightwell.cli.module_sources import read_source
from lightwell.cli.output import complain
from lightwell.cli.python2_parser import parse
from lightwell.compat.keras2.doors import IN_TF_KERAS
from lightwell.compat.tf1.name_uses import read_uses

_SWITCH = "TF_USE_LEGACY_KERAS"
_ROOTS = (
    "tensorflow.keras.",
    "tensorflow.compat.v1.keras.",
    "tensorflow.compat.v2.keras.",
    "tensorflow.contrib.keras.",
)


ADVICE = "the package tf_keras: `lightwell run` lets tf.keras be that one"


@dataclass(frozen=True)
class Need:
    """A use of a name that only Keras 2 has."""

    name: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} ({os.path.basename(self.file)}, line {self.line})"


def needs_of(files: Iterable[str]) -> list[Need]:
    """The uses of names that only Keras 2 has, in these sources."""
    found = []
    for file in files:
        for use in read_uses(parse(read_source(file), file).tree):
            found += [Need(name, file, use.line) for name in map(only_in_keras_2, use.names) if name]
    return found


def is_installed() -> bool:
    """Whether the package `tf_keras` can be imported."""
    return importlib.util.find_spec("tf_keras") is not None


def choose_keras(files: Iterable[str]) -> None:
    """Let TensorFlow use `tf_keras` if the program needs it and it is installed; says so on standard error.

    What the user has set in the environment, or a TensorFlow that is loaded already, stays as it is.
    """
    if _SWITCH in os.environ or "tensorflow" in sys.modules or not is_installed():
        return
    needs = needs_of(files)
    if needs:
        os.environ[_SWITCH] = "1"
        complain(sentence(needs), "run")


def sentence(needs: list[Need]) -> str:
    """What is said about a program that needs Keras 2."""
    others = f" and {len(needs) - 1} more" if len(needs) > 1 else ""
    return f"the program uses {needs[0]}{others}, which Keras 3 lacks: tf.keras is the package tf_keras, which has it"


def only_in_keras_2(name: str) -> str:
    """A full name as programs write it, if Keras 3 lacks it and `tf_keras` has it; else empty."""
    for root in _ROOTS:
        parts = name.removeprefix(root).split(".") if name.startswith(root) else []
        for depth in range(1, len(parts) + 1):
            below = ".".join(parts[:depth])
            if below in IN_TF_KERAS:
                return f"tf.keras.{below}"
    return ""
