"""Names for the operations of a Keras model: those of the `model_fn`, in the form that Keras takes, each once."""

from __future__ import annotations

from typing import Any

from lightwell.interop import doors


class Names:
    """The names given so far in one model."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._named: set[int] = set()

    def unique(self, wanted: str) -> str:
        """`wanted` without what Keras does not allow, and numbered where it is taken."""
        base = wanted.strip("/").replace("/", "_") or "value"
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def name_operations(self, tensor: Any, wanted: str) -> None:
        """Names what `keras.ops` made on the way to a Keras tensor; the last one gets the name itself."""
        waiting = [tensor]
        while waiting:
            operation, inputs = doors.operation_behind(waiting.pop())
            if id(operation) not in self._named:
                self._named.add(id(operation))
                operation.name = self.unique(wanted)
                waiting += inputs

    def keep(self, tensor: Any) -> None:
        """What gave the tensor has its name already."""
        self._named.add(id(doors.operation_behind(tensor)[0]))
