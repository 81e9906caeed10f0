"""Unique names for the operations of a Keras model, taken from the `model_fn`."""

from __future__ import annotations

from typing import Any

from lightwell.foreign import private_keras


class UniqueNames:
    """The names in use in one model."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._named: set[int] = set()

    def unique(self, base_name: str) -> str:
        """`base_name` without the characters that Keras forbids, and numbered if it is in use."""
        base = base_name.strip("/").replace("/", "_") or "value"
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def name_operations(self, tensor: Any, base_name: str) -> None:
        """Names the operations behind a Keras tensor; the last one gets the name without a number."""
        remaining = [tensor]
        while remaining:
            operation, inputs = private_keras.operation_behind(remaining.pop())
            if id(operation) not in self._named:
                self._named.add(id(operation))
                operation.name = self.unique(base_name)
                remaining += inputs

    def keep(self, tensor: Any) -> None:
        """Records that the operation of the tensor has its name."""
        self._named.add(id(private_keras.operation_behind(tensor)[0]))
