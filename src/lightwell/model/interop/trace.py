"""`KerasTrace`: the state of Keras objects while one `model_fn` runs.

It holds the open layer calls, the paths of layers, and the variables that were created, assigned and penalised. The
other modules of this folder write into the active trace; `keras_scope` opens and closes it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.model.interop.naming import LayerNames
from lightwell.model.layers.per_graph import PerGraph, replica_number

_v1 = tf.compat.v1


@dataclass(frozen=True, eq=False)
class OpenCall:
    """A layer call in progress.

    Attributes:
        layer: the layer.
        path: its path in this graph.
        training: the default of `training` for it and the layers below it.
        by_value: whether its code expects tensors to compare by value.
    """

    layer: Any
    path: str
    training: Any
    by_value: bool = True


class _Doing(threading.local):
    """What one thread is doing; several threads may build one graph."""

    def __init__(self) -> None:
        self.open_calls: list[OpenCall] = []
        self.is_optimizing = False
        self.is_describing = False


@dataclass(eq=False)
class KerasTrace:
    """The state of Keras objects while one `model_fn` runs.

    Attributes:
        graph: the graph that is built.
        mode: a `ModeKeys` value; None while `input_fn` runs, where layers work as everywhere in Keras.
        updates: operations that keep state up to date (moving statistics); they belong to each training step.
        updaters: for each of them, the layers (by id) whose calls were open when it was created.
        doing: what the current thread is doing.
    """

    graph: tf.Graph
    mode: str | None
    updates: list[Any] = field(default_factory=list)
    updaters: list[frozenset[int]] = field(default_factory=list)
    doing: _Doing = field(default_factory=_Doing)
    names: LayerNames = field(init=False)
    reads_in_order: bool = True
    optimizer_being_built: str | None = None
    symbolic: set[str] = field(default_factory=set)
    # Keras variables compare element by element, so all of these are keyed by id; references keep the ids unique.
    created: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    assigned: dict[int, list[Any]] = field(default_factory=dict)
    penalised: set[int] = field(default_factory=set)
    draws: dict[int, int] = field(default_factory=dict)
    referenced: list[Any] = field(default_factory=list)
    borrowed: list[tuple[Any, Any]] = field(default_factory=list)
    lent: list[tuple[Any, str, Any]] = field(default_factory=list)
    local_updates: list[tuple[Any, Any]] = field(default_factory=list)
    declared: set[int] = field(default_factory=set)  # variables of metrics that a spec names
    replicas: dict[int, KerasTrace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = LayerNames(self.graph)

    @property
    def is_training(self) -> bool:
        return self.mode == ModeKeys.TRAIN

    @property
    def open_calls(self) -> list[OpenCall]:
        """The layer calls in progress, the innermost last."""
        return self.doing.open_calls

    @property
    def is_outside_functions(self) -> bool:
        """Whether operations created now are the graph's own, and not those of a loop's or a function's body."""
        return _v1.get_default_graph() is self.graph

    @property
    def compares_by_value(self) -> bool:
        """Whether the code that is running, a layer's or an optimizer's, expects tensors to compare by value."""
        return self.doing.is_optimizing or (bool(self.open_calls) and self.open_calls[-1].by_value)

    @contextlib.contextmanager
    def optimizing(self) -> Iterator[None]:
        """Inside the block an optimizer's code is running."""
        self.doing.is_optimizing = True
        try:
            yield
        finally:
            self.doing.is_optimizing = False

    @contextlib.contextmanager
    def describing(self) -> Iterator[None]:
        """Inside the block a layer is called to describe a model, on what stands for inputs."""
        before, self.doing.is_describing = self.doing.is_describing, True
        try:
            yield
        finally:
            self.doing.is_describing = before

    @contextlib.contextmanager
    def unordered_reads(self) -> Iterator[None]:
        """Inside the block reads wait for no assignment: a metric's value is read after all batches."""
        before, self.reads_in_order = self.reads_in_order, False
        try:
            yield
        finally:
            self.reads_in_order = before

    def holds(self, tensor: Any) -> bool:
        """Whether a tensor can be fetched from the graph."""
        return getattr(tensor, "graph", None) is self.graph

    def add_update(self, operation: Any) -> None:
        """Makes an operation part of each training step; old code finds it in `UPDATE_OPS` too."""
        if self.is_training and not any(operation is known for known in self.updates):
            self.updates.append(operation)
            self.updaters.append(frozenset(id(call.layer) for call in self.open_calls))
            collect(_v1.GraphKeys.UPDATE_OPS, operation)

    def add_penalty(self, tensor: Any) -> None:
        """Makes a loss of a layer one of the graph's regularisation losses."""
        if self.holds(tensor):
            collect(_v1.GraphKeys.REGULARIZATION_LOSSES, tensor)

    def of_replica(self) -> KerasTrace:
        """The trace of the replica that is being built: this one, unless a strategy builds several.

        Variables are those of the first replica, by the same names; what a replica does with them is its own.
        """
        number = replica_number()
        if number == 0:
            return self
        if number not in self.replicas:
            trace = KerasTrace(self.graph, self.mode, created=self.created, borrowed=self.borrowed, lent=self.lent)
            trace.names = LayerNames(self.graph, self.names)
            self.replicas[number] = trace
        return self.replicas[number]


def collect(key: str, value: Any) -> None:
    """Adds a value to a graph collection once; by identity, because tensors compare element by element."""
    if not any(value is known for known in _v1.get_collection_ref(key)):
        _v1.add_to_collection(key, value)


_active: PerGraph[KerasTrace] = PerGraph()


def active_trace() -> KerasTrace | None:
    """The trace of the graph and the replica that are being built, by any thread."""
    trace = _active.here()
    return None if trace is None else trace.of_replica()


def tracing(trace: KerasTrace) -> AbstractContextManager[KerasTrace]:
    """Makes `trace` that of the default graph inside the block."""
    return _active.opened(trace)
