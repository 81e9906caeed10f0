"""The book of layers: what a `model_fn` called, in order, while it ran, and the gate that every value passes.

Owns `LayerCall` (one call of one layer) and `LayerBook` (all calls of one graph). The engine opens a book for the graph
it builds (`recording`); whatever has a path goes through `passed` on its way, or through the `calling` of a layer:
`takes` before the layer computes, `gives` after. The model goes on with what they return. Without an open book they
return what they were given, so that a layer works the same outside an Estimator.
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

from lightwell import _tf
from lightwell.errors import PathError
from lightwell.layers.gate import (
    Edit,
    inputs_through_edits,
    outputs_through_edits,
    tensors_in,
    through_edits,
    together_through_edits,
)
from lightwell.layers.per_graph import PerGraph, replica_number

INPUT_FN = "input_fn"


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of one layer.

    Attributes:
        name: the layer's name in its model, nested names joined by `/`: `conv2d_1`, `encoder/block_1/dense`.
        call: 0 for the first call of that layer in this graph, 1 for the second, and so on.
        kind: the layer's class name, `Conv2D`.
        inputs: what the layer computed with (a tensor or a structure of tensors).
        outputs: what it returned, and the model went on with (a tensor or a structure of tensors).
        variables: the variables the layer owns, in order of creation.
        layer: the layer object itself, where there is one.
        given: the positional and the named arguments, as the caller of the layer wrote them; None where the outputs are
            no single call of the layer.
    """

    name: str
    call: int
    kind: str
    inputs: Any
    outputs: Any
    variables: tuple[Any, ...]
    layer: Any = None
    given: tuple[tuple[Any, ...], dict[str, Any]] | None = None

    @property
    def path(self) -> str:
        """The path of its outputs."""
        return f"layers/{self.name}:{self.call}" if self.call else f"layers/{self.name}"


class LayerOutputs(dict[str, Any]):
    """Layer name to output, with an error that helps where a name is unknown."""

    def __missing__(self, name: str) -> Any:
        close = difflib.get_close_matches(name, self, n=5, cutoff=0.4)
        raise PathError(f"There is no layer {name!r} in this model. Its layers are {close or sorted(self)}.")


@dataclass(eq=False)
class LayerBook:
    """All layer calls of one graph, in the order in which they happened.

    Where a strategy runs the model several times in one graph, the first replica writes here and each of the others
    into a book of its own, under the same names.

    Attributes:
        calls: the calls so far.
        edits: what may change values on their way, in the order in which they apply.
        giver: what gave the features, for errors: `input_fn`, or the receiver function of an export.
        replicas: the number of a replica, from 1 on, to its book.
        is_there: a tensor that tells whether the replica has a batch of its own; None where it always has.
        edited: by path, the gradients that edits changed, as the optimizer is given them.
    """

    calls: list[LayerCall] = field(default_factory=list)
    edits: Sequence[Edit] = ()
    giver: str = INPUT_FN
    replicas: dict[int, LayerBook] = field(default_factory=dict)
    is_there: Any = None
    edited: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter(call.name for call in self.calls)
        self._out_of_reach: dict[str, str] = {}
        self._losses: dict[int, tuple[Any, Any]] = {}

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """(name, reason) of each layer that was called only where a session cannot fetch its values.

        The reason is the rest of a sentence about the layer: "is built inside tf.cond, ...".
        """
        return [(name, reason) for name, reason in self._out_of_reach.items() if name not in self._counts]

    def passed(self, path: str, values: Any) -> Any:
        """What the model goes on with in place of `values`: themselves, unless an edit changes them.

        Args:
            path: `features`, `labels`, `gradients/weights/dense/kernel`.
            values: a tensor, or a structure of tensors, whose parts are named by their keys: `features/age`.
        """
        return through_edits(self.edits, path, values)

    def passed_together(self, values: Sequence[tuple[str, Any]]) -> list[Any]:
        """`passed` for tensors that pass at once, each with its path, so that an edit may see all of them."""
        after = together_through_edits(self.edits, values)
        changed = zip(values, after, strict=True)
        self.edited.update({path: new for (path, old), new in changed if new is not old})
        return after

    def passed_loss(self, loss: Any) -> Any:
        """`passed("loss", loss)`, once for each loss: an optimizer takes it, and the spec holds it, too."""
        if not self.edits or not isinstance(loss, tf.Tensor):
            return loss
        known = self._losses.get(id(loss))
        if known is None:
            known = (loss, self.passed("loss", loss))
            self._losses[id(loss)] = self._losses[id(known[1])] = known  # kept, so that an id stays a tensor's own
        return known[1]

    def number_of_next(self, name: str) -> int:
        """Which call of a layer the next one is."""
        with self._lock:
            return self._counts[name]

    def written(self, call: LayerCall, reason: str | None) -> Any:
        """Writes down a call of a layer, numbered among the calls of that layer; gives what came of its outputs.

        Args:
            call: the call.
            reason: why a session cannot fetch its values. Such a call gets no line and no number: its name is among
                `hidden`.
        """
        with self._lock:
            call = dataclasses.replace(call, call=0 if reason else self._counts[call.name])
            if reason:
                self._out_of_reach.setdefault(call.name, reason)
            else:
                self._counts[call.name] += 1
                place = len(self.calls)
                self.calls.append(call)
        edited = outputs_through_edits(self.edits, call)
        if edited is not call.outputs and not reason:
            self.calls[place] = dataclasses.replace(call, outputs=edited)
        return edited

    def of_replica(self) -> LayerBook:
        """The book of the replica that is built now: this one, unless there are several."""
        number = replica_number()
        if number == 0:
            return self
        with self._lock:
            return self.replicas.setdefault(number, LayerBook(edits=self.edits, giver=self.giver))

    def with_batch(self, is_there: Any) -> None:
        """Notes whether the replica that is built now has a batch of its own: a tensor, or None where it always has."""
        self.of_replica().is_there = is_there

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
    """What runs layers step by step: why they are out of reach, and the layers whose steps it gives as a whole."""

    reason: str
    stood_for: tuple[Any, ...]


_books: PerGraph[LayerBook] = PerGraph()
# A matter of the running code, not of the graph: another thread may build the same graph beside the loop.
_loop: contextvars.ContextVar[_Loop | None] = contextvars.ContextVar("lightwell_loop", default=None)


def recording(book: LayerBook) -> AbstractContextManager[LayerBook]:
    """Opens `book` for what is built in the default graph, by any thread, inside the `with` block."""
    return _books.opened(book)


def open_book() -> LayerBook | None:
    """The book of the graph, and of the replica, that is built now."""
    book = _books.here()
    return None if book is None else book.of_replica()


def giver_of_features() -> str:
    """What gave the features of the model that is built now, for errors."""
    book = open_book()
    return INPUT_FN if book is None else book.giver


def passed(path: str, values: Any) -> Any:
    """What the model goes on with in place of `values`; see `LayerBook.passed`."""
    book = open_book()
    return values if book is None else book.passed(path, values)


def passed_loss(loss: Any) -> Any:
    """What takes the place of a loss; see `LayerBook.passed_loss`."""
    book = open_book()
    return loss if book is None else book.passed_loss(loss)


class Calling:
    """One call of a layer, from what it takes to what it gives.

        call = Calling(name="dense", kind="Dense", layer=self)
        inputs = call.takes(inputs)
        return call.gives(self.call(inputs), variables=self.variables)

    Args:
        name: the layer's name in its model, or a function that finds it ahead; what `gives` is told counts then.
        kind: its class name.
        layer: the layer object, where there is one.
        inside: how many calls of the same name the layer makes itself, which are numbered before it.
    """

    def __init__(self, *, name: str | Callable[[], str], kind: str, layer: Any = None, inside: int = 0) -> None:
        self._book, self._loop = open_book(), _loop.get()
        if self._loop is not None and any(layer is one for one in self._loop.stood_for):
            self._book = None  # the whole that it is a step of passes
        self._ahead, self._inside = (name if callable(name) else None), inside
        self._call = LayerCall("" if callable(name) else name, 0, kind, (), (), (), layer)

    def takes(self, inputs: Any, *, changed_by: bool = True) -> Any:
        """What the layer computes with in place of its inputs, a tensor or a structure of tensors.

        Args:
            inputs: what it was called with.
            changed_by: whether edits may change them; what was computed with already is only written down.
        """
        if self._book is None:
            return inputs
        self._call = dataclasses.replace(self._call, inputs=inputs)
        if changed_by and self._book.edits:
            if self._ahead is not None:
                self._call = dataclasses.replace(self._call, name=self._ahead())
            hidden = self._loop is not None or _tf.builds_a_body()
            number = 0 if hidden else self._book.number_of_next(self._call.name) + self._inside
            edited = inputs_through_edits(self._book.edits, dataclasses.replace(self._call, call=number))
            self._call = dataclasses.replace(self._call, inputs=edited)
        return self._call.inputs

    def gives(self, outputs: Any, *, variables: Sequence[Any], **known: Any) -> Any:
        """What the caller of the layer gets in place of its outputs; the call is written down.

        Args:
            outputs: what the layer computed.
            variables: the variables it owns.
            **known: fields of `LayerCall` that are known only now.
        """
        tensors = tensors_in(outputs)
        if self._book is None or not tensors:
            return outputs
        reason = _reason_hidden(tensors) if self._loop is None else self._loop.reason
        call = dataclasses.replace(self._call, outputs=outputs, variables=tuple(variables), **known)
        return self._book.written(call, reason)


def in_a_loop() -> bool:
    """Whether what calls layers now runs them step by step."""
    return _loop.get() is not None


@contextlib.contextmanager
def looping(where: str, stood_for: Sequence[Any] = ()) -> Iterator[None]:
    """Inside the block, layers are called step by step: they get no line in the book, and are among its `hidden`.

    Args:
        where: what runs them, as it stands in a sentence: "tf.compat.v1.nn.dynamic_rnn".
        stood_for: layers whose steps are written down as a whole afterwards.
    """
    reason = f"is called step by step inside {where}; a path reads the whole sequence that comes out"
    token = _loop.set(_Loop(reason, tuple(stood_for)))
    try:
        yield
    finally:
        _loop.reset(token)


def _reason_hidden(tensors: list[Any]) -> str | None:
    """Why a session cannot fetch the tensors; None if it can."""
    for tensor in tf.nest.flatten(tensors, expand_composites=True):
        body = _tf.body_around(tensor)
        if body is not None:
            return (
                f"is built inside {body}, whose values exist only while it runs; return the value from there and "
                "read what comes out"
            )
    return None
