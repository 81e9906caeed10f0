"""`tf.examples` of TensorFlow 1: of its tutorials, the reader of MNIST (`tf.examples.tutorials.mnist.input_data`)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lightwell.base.lazy import refuse, resolve
from lightwell.compat.tf1.tables import EXAMPLES

__all__ = ["tutorials"]


class _Folder(ModuleType):
    """A folder of the examples: what stands below it in the table."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        path = f"{self.__name__}.{name}".removeprefix("tf.examples.")
        if path in EXAMPLES:
            value = resolve(EXAMPLES[path])
        elif any(known.startswith(f"{path}.") for known in EXAMPLES):
            value = _Folder(f"tf.examples.{path}")
        else:
            there = ", ".join(f"tf.examples.{known}" for known in EXAMPLES)
            refuse(f"tf.examples.{path} went with TensorFlow 1. There is: {there}.", self.__name__, name)
        setattr(self, name, value)
        return value


tutorials = _Folder("tf.examples.tutorials")
