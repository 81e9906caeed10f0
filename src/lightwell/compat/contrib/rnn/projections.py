"""Wrappers with a matrix before or behind a cell: projections of inputs and outputs, embeddings."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.rnn.affine import affine
from lightwell.errors import UsageError
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import cell_of

_v1 = tf.compat.v1


class _Around(RNNCell):
    """A cell around a cell, with a scope and variables of its own."""

    def __init__(self, cell: Any, reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        self._cell = cell_of(type(self).__name__, cell)

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The zero state of the cell inside."""
        with _v1.name_scope(f"{type(self).__name__}ZeroState"):
            return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_Around):
    """Projects the inputs of a cell.

    Args:
        cell: the cell inside.
        num_proj: width of the projected inputs.
        activation: of the projection; none if None.
        input_size: without effect.
        reuse: whether to take variables that exist already in the wrapper's scope.
    """

    def __init__(
        self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        projected = affine(inputs, self._num_proj)
        outputs: tuple[Any, Any] = self._cell(self._activation(projected) if self._activation else projected, state)
        return outputs


class OutputProjectionWrapper(_Around):
    """Projects the outputs of a cell.

    Args:
        cell: the cell inside.
        output_size: width of the projected outputs.
        activation: of the projection; none if None.
        reuse: whether to take variables that exist already in the wrapper's scope.
    """

    def __init__(self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise UsageError(f"OutputProjectionWrapper: Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation

    @property
    def output_size(self) -> int:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        output, state = self._cell(inputs, state)
        projected = affine(output, self._output_size)
        return (self._activation(projected) if self._activation else projected), state


class EmbeddingWrapper(_Around):
    """A cell whose inputs are ids `[batch, 1]`, each replaced by its row of `embedding`.

    Args:
        cell: the cell inside.
        embedding_classes: how many ids there are.
        embedding_size: width of a row.
        initializer: of the rows; the scope's if there is one, else uniform with variance 1.
        reuse: whether to take variables that exist already in the wrapper's scope.
    """

    def __init__(
        self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise UsageError(
                "EmbeddingWrapper: Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        root = 3**0.5
        initializer = (
            self._initializer or _v1.get_variable_scope().initializer or _v1.random_uniform_initializer(-root, root)
        )
        dtype = tf.nest.flatten(state)[0].dtype
        table = _v1.get_variable("embedding", self._shape, dtype, initializer)
        outputs: tuple[Any, Any] = self._cell(tf.nn.embedding_lookup(table, tf.reshape(inputs, [-1])), state)
        return outputs
