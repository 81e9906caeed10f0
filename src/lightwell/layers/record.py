"""The book of layers: what a `model_fn` called, in order, while it ran.

Owns `LayerCall` (one call of one layer) and `LayerBook` (all calls of one graph). Layers write into the book that is
open in the current context through `record_call`; without an open book that is a no-op, so a layer works the same in
and outside an Estimator. Nothing here knows graphs beyond the tensors it is handed.
"""

from __future__ import annotations

import contextlib
import contextvars
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.errors import PathError


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of one layer.

    Attributes:
        name: the layer's name in its model, nested names joined by `/`: `conv2d_1`, `encoder/block_1/dense`.
        call: 0 for the first call of that layer in this graph, 1 for the second, and so on.
        kind: the layer's class name, `Conv2D`.
        inputs: what the layer was called with (a tensor or a structure of tensors).
        outputs: what it returned (a tensor or a structure of tensors).
        variables: the variables the layer owns, in order of creation.
        layer: the layer object itself, where there is one.
    """

    name: str
    call: int
    kind: str
    inputs: Any
    outputs: Any
    variables: tuple[Any, ...]
    layer: Any = None


class LayerOutputs(dict[str, Any]):
    """Layer name to output, with an error that helps where a name is unknown."""

    def __missing__(self, name: str) -> Any:
        close = difflib.get_close_matches(name, self, n=5, cutoff=0.4)
        raise PathError(f"There is no layer {name!r} in this model. Its layers are {close or sorted(self)}.")


@dataclass
class LayerBook:
    """All layer calls of one graph, in the order in which they happened."""

    calls: list[LayerCall] = field(default_factory=list)

    def add(
        self, *, name: str, kind: str, inputs: Any, outputs: Any, variables: Sequence[Any], layer: Any = None
    ) -> LayerCall:
        """Writes down one call and numbers it among the calls of the same layer."""
        earlier = sum(1 for call in self.calls if call.name == name)
        call = LayerCall(name, earlier, kind, inputs, outputs, tuple(variables), layer)
        self.calls.append(call)
        return call

    def by_name(self) -> LayerOutputs:
        """The outputs of all calls, by the layer's name; `name:1` is its second call."""
        calls: dict[str, list[LayerCall]] = {}
        for call in self.calls:
            calls.setdefault(call.name, []).append(call)
        outputs = LayerOutputs()
        for name, of_layer in calls.items():
            outputs[name] = of_layer[0].outputs
            if len(of_layer) > 1:
                outputs.update({f"{name}:{call.call}": call.outputs for call in of_layer})
        return outputs

    def __iter__(self) -> Iterator[LayerCall]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)


_open_book: contextvars.ContextVar[LayerBook | None] = contextvars.ContextVar("lightwell_layer_book", default=None)


@contextlib.contextmanager
def recording(book: LayerBook) -> Iterator[LayerBook]:
    """Opens `book` for the layer calls made inside the `with` block."""
    token = _open_book.set(book)
    try:
        yield book
    finally:
        _open_book.reset(token)


def record_call(
    *, name: str, kind: str, inputs: Any, outputs: Any, variables: Sequence[Any], layer: Any = None
) -> LayerCall | None:
    """Writes a layer call into the open book, if one is open and a session can fetch what the call gave."""
    book = _open_book.get()
    if book is None or not is_fetchable(outputs):
        return None
    return book.add(name=name, kind=kind, inputs=inputs, outputs=outputs, variables=variables, layer=layer)


def is_fetchable(values: Any) -> bool:
    """Whether every tensor in `values` is a value of the outer graph, not of a loop's or branch's body."""
    tensors = [value for value in tf.nest.flatten(values) if isinstance(value, tf.Tensor)]
    if not tensors or tf.executing_eagerly():
        return bool(tensors)
    return all(not tensor.graph.building_function and tensor.graph.is_fetchable(tensor) for tensor in tensors)
