"""The book of layers: a record of the layer calls of a graph, which every value with a path passes.

The engine opens a `LayerBook` for the graph it builds (`recording`). Values pass it by `pass_value`, the inputs and
outputs of a layer by a `BookCall`; the model continues with the returned values, which edits may have changed. Without
an open book values are returned unchanged, so that layers work the same outside an Estimator.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import difflib
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.errors import PathError
from lightwell.foreign import private_tf
from lightwell.model.layers.gate import (
    Edit,
    inputs_through_edits,
    outputs_through_edits,
    tensors_in,
    through_edits,
    together_through_edits,
)
from lightwell.model.layers.per_graph import PerGraph, replica_number

INPUT_FN = "input_fn"


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of one layer.

    Attributes:
        name: the layer's name in its model, nested names joined by `/`: `conv2d_1`, `encoder/block_1/dense`.
        call: 0 for the first call of that layer in this graph, 1 for the second, and so on.
        kind: the layer's class name, `Conv2D`.
        inputs: a tensor or a structure of tensors, after edits.
        outputs: a tensor or a structure of tensors, after edits.
        variables: the variables the layer owns, in order of creation.
        layer: the layer object, if there is one.
        arguments: positional and named arguments of the call; None if the outputs are not those of a single call.
    """

    name: str
    call: int
    kind: str
    inputs: Any
    outputs: Any
    variables: tuple[Any, ...]
    layer: Any = None
    arguments: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    @property
    def path(self) -> str:
        """The path of its outputs."""
        return f"layers/{self.name}:{self.call}" if self.call else f"layers/{self.name}"


class LayerOutputs(dict[str, Any]):
    """Layer name to output; an unknown name raises an error with similar names."""

    def __missing__(self, name: str) -> Any:
        close = difflib.get_close_matches(name, self, n=5, cutoff=0.4)
        raise PathError(f"There is no layer {name!r} in this model. Its layers are {close or sorted(self)}.")


@dataclass(eq=False)
class LayerBook:
    """All layer calls of one graph, in order.

    If a strategy builds several replicas in one graph, the first one uses this book and each other one a book in
    `replicas`, with the same names.

    Attributes:
        calls: the calls so far.
        edits: the edits of values, in the order in which they apply.
        feature_source: the function that returned the features, for errors: `input_fn`, or the receiver function of an
            export.
        replicas: number of a replica, from 1 on -> its book.
        has_batch: a boolean tensor, whether the replica has a batch in this step; None if it always has.
        edited: path -> gradient after edits, for the gradients that edits changed.
    """

    calls: list[LayerCall] = field(default_factory=list)
    edits: Sequence[Edit] = ()
    feature_source: str = INPUT_FN
    replicas: dict[int, LayerBook] = field(default_factory=dict)
    has_batch: Any = None
    edited: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter(call.name for call in self.calls)
        self._hidden_reasons: dict[str, str] = {}
        self._losses: dict[int, tuple[Any, Any]] = {}

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """(name, reason) of each layer whose values a session cannot fetch in any call.

        The reason is the rest of a sentence about the layer: "is built inside tf.cond, ...".
        """
        return [(name, reason) for name, reason in self._hidden_reasons.items() if name not in self._counts]

    def pass_value(self, path: str, values: Any) -> Any:
        """The values after edits; the same object if no edit changes them.

        Args:
            path: `features`, `labels`, `gradients/weights/dense/kernel`.
            values: a tensor, or a structure of tensors, whose parts are named by their keys: `features/age`.
        """
        return through_edits(self.edits, path, values)

    def pass_together(self, values: Sequence[tuple[str, Any]]) -> list[Any]:
        """`pass_value` for (path, tensor) pairs that pass at the same time, so that an edit can see all of them."""
        after = together_through_edits(self.edits, values)
        changed = zip(values, after, strict=True)
        self.edited.update({path: new for (path, old), new in changed if new is not old})
        return after

    def pass_loss(self, loss: Any) -> Any:
        """`pass_value("loss", loss)`, cached per loss: both the optimizer and the spec pass it."""
        if not self.edits or not isinstance(loss, tf.Tensor):
            return loss
        known = self._losses.get(id(loss))
        if known is None:
            known = (loss, self.pass_value("loss", loss))
            self._losses[id(loss)] = self._losses[id(known[1])] = known  # the reference keeps the id unique
        return known[1]

    def next_call_number(self, name: str) -> int:
        """The number of the next call of a layer."""
        with self._lock:
            return self._counts[name]

    def record_call(self, call: LayerCall, reason: str | None) -> Any:
        """Records and numbers a call of a layer; returns its outputs after edits.

        Args:
            call: the call.
            reason: why a session cannot fetch its values. Such a call is not recorded; its name is in `hidden`.
        """
        with self._lock:
            call = dataclasses.replace(call, call=0 if reason else self._counts[call.name])
            if reason:
                self._hidden_reasons.setdefault(call.name, reason)
            else:
                self._counts[call.name] += 1
                index = len(self.calls)
                self.calls.append(call)
        edited = outputs_through_edits(self.edits, call)
        if edited is not call.outputs and not reason:
            self.calls[index] = dataclasses.replace(call, outputs=edited)
        return edited

    def of_replica(self) -> LayerBook:
        """The book of the replica that is being built; this one if there is only one."""
        number = replica_number()
        if number == 0:
            return self
        with self._lock:
            return self.replicas.setdefault(number, LayerBook(edits=self.edits, feature_source=self.feature_source))

    def set_has_batch(self, has_batch: Any) -> None:
        """Sets `has_batch` of the replica that is being built."""
        self.of_replica().has_batch = has_batch

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


@dataclass(frozen=True, eq=False)
class _Loop:
    """A loop that calls layers step by step: why they are hidden, and the layers that it records as a whole."""

    reason: str
    covered: tuple[Any, ...]


_books: PerGraph[LayerBook] = PerGraph()
# It belongs to the running code, not to the graph: another thread may build the same graph outside of the loop.
_loop: contextvars.ContextVar[_Loop | None] = contextvars.ContextVar("lightwell_loop", default=None)


def recording(book: LayerBook) -> AbstractContextManager[LayerBook]:
    """Opens `book` for the default graph, for all threads, inside the `with` block."""
    return _books.opened(book)


def open_book() -> LayerBook | None:
    """The book of the graph and the replica that are being built; None if no book is open."""
    book = _books.here()
    return None if book is None else book.of_replica()


def feature_source() -> str:
    """The function that returned the features of the model that is being built, for errors."""
    book = open_book()
    return INPUT_FN if book is None else book.feature_source


def pass_value(path: str, values: Any) -> Any:
    """The values after edits; see `LayerBook.pass_value`."""
    book = open_book()
    return values if book is None else book.pass_value(path, values)


def pass_loss(loss: Any) -> Any:
    """The loss after edits; see `LayerBook.pass_loss`."""
    book = open_book()
    return loss if book is None else book.pass_loss(loss)


class BookCall:
    """One call of a layer whose inputs and outputs pass the book.

        call = BookCall(name="dense", kind="Dense", layer=self)
        inputs = call.pass_inputs(inputs)
        return call.pass_outputs(self.call(inputs), variables=self.variables)

    Args:
        name: the layer's name in its model, or a function that predicts it; `pass_outputs` may correct it.
        kind: its class name.
        layer: the layer object, if there is one.
        inside: the number of calls of the same name that the layer itself makes; they are numbered before it.
    """

    def __init__(self, *, name: str | Callable[[], str], kind: str, layer: Any = None, inside: int = 0) -> None:
        self._book, self._loop = open_book(), _loop.get()
        if self._loop is not None and any(layer is one for one in self._loop.covered):
            self._book = None  # the loop passes the whole sequence
        self._predict_name, self._inside = (name if callable(name) else None), inside
        self._call = LayerCall("" if callable(name) else name, 0, kind, (), (), (), layer)

    def pass_inputs(self, inputs: Any, *, editable: bool = True) -> Any:
        """The inputs of the layer after edits: a tensor or a structure of tensors.

        Args:
            inputs: the inputs of the call.
            editable: whether edits may change them; inputs that were used already are only recorded.
        """
        if self._book is None:
            return inputs
        self._call = dataclasses.replace(self._call, inputs=inputs)
        if editable and self._book.edits:
            if self._predict_name is not None:
                self._call = dataclasses.replace(self._call, name=self._predict_name())
            hidden = self._loop is not None or private_tf.is_building_body()
            number = 0 if hidden else self._book.next_call_number(self._call.name) + self._inside
            edited = inputs_through_edits(self._book.edits, dataclasses.replace(self._call, call=number))
            self._call = dataclasses.replace(self._call, inputs=edited)
        return self._call.inputs

    def pass_outputs(self, outputs: Any, *, variables: Sequence[Any], **known: Any) -> Any:
        """Records the call; returns the outputs after edits.

        Args:
            outputs: the outputs of the layer.
            variables: the variables it owns.
            **known: further fields of `LayerCall`.
        """
        tensors = tensors_in(outputs)
        if self._book is None or not tensors:
            return outputs
        reason = _reason_hidden(tensors) if self._loop is None else self._loop.reason
        call = dataclasses.replace(self._call, outputs=outputs, variables=tuple(variables), **known)
        return self._book.record_call(call, reason)


def is_in_loop() -> bool:
    """Whether layers are being called step by step, inside `inside_loop`."""
    return _loop.get() is not None


@contextlib.contextmanager
def inside_loop(where: str, covered: Sequence[Any] = ()) -> Iterator[None]:
    """Inside the block, layers are called step by step: their calls are not recorded, and they are in `hidden`.

    Args:
        where: the loop, for messages: "tf.compat.v1.nn.dynamic_rnn".
        covered: layers whose steps are recorded as a whole afterwards.
    """
    reason = f"is called step by step inside {where}; a path reads the whole sequence that comes out"
    token = _loop.set(_Loop(reason, tuple(covered)))
    try:
        yield
    finally:
        _loop.reset(token)


def _reason_hidden(tensors: list[Any]) -> str | None:
    """Why a session cannot fetch the tensors; None if it can."""
    for tensor in tf.nest.flatten(tensors, expand_composites=True):
        body = private_tf.enclosing_body(tensor)
        if body is not None:
            return (
                f"is built inside {body}, whose values exist only while it runs; return the value from there and "
                "read what comes out"
            )
    return None
