"""What a layer remembers of its calls: inputs, outputs, shapes and losses.

Owns `CallHistory`, the part of `Layer` that answers questions. Takes the tensors of each call; gives them back by
position, or alone when there was one call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import LightwellError, UsageError


class NoSuchCallError(LightwellError, AttributeError):
    """A question about a layer's calls that the layer cannot answer, in the form `hasattr` understands."""


class CallHistory:
    """Remembers calls and losses; the questions of `Layer` that need nothing else."""

    activity_regularizer: Callable[..., Any] | None
    name: Any

    def __init__(self) -> None:
        self._calls = 0
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._losses: list[tuple[Any, bool]] = []
        self._graph: Callable[[], Any] | None = None

    @property
    def graph(self) -> Any:
        """The graph of the layer's first call; `None` before it, and in eager mode."""
        return self._graph() if self._graph is not None else None

    @property
    def input(self) -> Any:
        return self._only(self._inputs, "input")

    @property
    def output(self) -> Any:
        return self._only(self._outputs, "output")

    @property
    def input_shape(self) -> Any:
        return self._common_shape(self._inputs, "input_shape")

    @property
    def output_shape(self) -> Any:
        return self._common_shape(self._outputs, "output_shape")

    def get_input_at(self, node_index: int) -> Any:
        """The inputs of call number `node_index`."""
        return self._at(self._inputs, node_index)

    def get_output_at(self, node_index: int) -> Any:
        """The outputs of call number `node_index`."""
        return self._at(self._outputs, node_index)

    def get_input_shape_at(self, node_index: int) -> Any:
        """The static shape of the inputs of call number `node_index`."""
        return _shapes(self._at(self._inputs, node_index))

    def get_output_shape_at(self, node_index: int) -> Any:
        """The static shape of the outputs of call number `node_index`."""
        return _shapes(self._at(self._outputs, node_index))

    @property
    def losses(self) -> list[Any]:
        """Losses of weights and of calls, in order of creation."""
        return [loss for loss, _ in self._losses]

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Losses that depend on the calls' inputs, or with `None` those that depend on weights alone."""
        return [loss for loss, depends_on_inputs in self._losses if depends_on_inputs == (inputs is not None)]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds scalar losses (tensors, or functions that return one) to `GraphKeys.REGULARIZATION_LOSSES`."""
        for loss in tf.nest.flatten(losses):
            tensor = loss() if callable(loss) else loss
            if tensor is None:
                continue
            self._losses.append((tensor, inputs is not None))
            if not tf.executing_eagerly():
                tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.REGULARIZATION_LOSSES, tensor)

    def _penalise(self, name: str, pieces: list[Any], penalty: Callable[..., Any]) -> None:
        for piece in pieces:
            with tf.name_scope(f"{name}/Regularizer"):
                # Keras' penalties refuse a variable of references, which `disable_v2_behavior` brings back.
                self.add_loss(penalty(piece if piece.dtype == piece.dtype.base_dtype else tf.convert_to_tensor(piece)))

    def _penalise_activity(self, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        for output in tf.nest.flatten(outputs):
            with tf.name_scope("ActivityRegularizer"):
                penalty = tf.convert_to_tensor(self.activity_regularizer(output))
                batch_size = tf.cast(tf.shape(output)[0], penalty.dtype)
                self.add_loss(penalty / batch_size, inputs=True)

    def _belongs_here(self) -> bool:
        """Whether the graph being built is the layer's own; the first call makes it so."""
        is_eager = tf.compat.v1.executing_eagerly_outside_functions()
        here = None if is_eager else _outermost(tf.compat.v1.get_default_graph())
        if self._graph is None and here is not None:
            self._graph = weakref.ref(here)
        return self.graph is here

    def _remember(self, inputs: Any, outputs: Any) -> None:
        self._inputs.append(inputs)
        self._outputs.append(outputs)

    def _only(self, calls: list[Any], what: str) -> Any:
        if not calls:
            raise NoSuchCallError(
                f"layer '{self.name}': it has no {what}, as it was never called. Call it on a tensor first."
            )
        if len(calls) > 1:
            raise NoSuchCallError(
                f"layer '{self.name}': it was called {len(calls)} times, so '{what}' could mean any of them. "
                f"Use get_{what}_at(index)."
            )
        return calls[0]

    def _common_shape(self, calls: list[Any], what: str) -> Any:
        if not calls:
            raise NoSuchCallError(
                f"layer '{self.name}': it has no {what}, as it was never called. Call it on a tensor first."
            )
        shapes = [_shapes(call) for call in calls]
        if any(str(shape) != str(shapes[0]) for shape in shapes):
            raise NoSuchCallError(
                f"layer '{self.name}': its calls have different shapes, {shapes}. Use get_{what}_at(index)."
            )
        return shapes[0]

    def _at(self, calls: list[Any], index: int) -> Any:
        if not 0 <= index < len(calls):
            raise UsageError(
                f"layer '{self.name}': there is no call number {index}; it was called {len(calls)} time(s). "
                "Calls are counted from 0."
            )
        return calls[index]


def _outermost(graph: Any) -> Any:
    """The graph that a loop or branch body is part of: bodies are graphs of their own."""
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph
    return graph


def _shapes(structure: Any) -> Any:
    def as_tuple(tensor: Any) -> tuple[int | None, ...] | None:
        return None if tensor.shape.rank is None else tuple(tensor.shape.as_list())

    return tf.nest.map_structure(as_tuple, structure)
