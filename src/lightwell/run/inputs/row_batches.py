"""Batches of rows from columns of arrays: the common part of `numpy_input_fn` and `pandas_input_fn`.

Owns the meaning of their settings: order, epochs, shuffling. Takes columns (`columns.py`), returns tensors that hold
the next batch whenever they are computed. The arrays stay outside the graph: that of an Estimator, or one of the
program's own, where no iterator has to be started.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.run.inputs.arrays import permanent_tensor_of
from lightwell.run.inputs.columns import Column
from lightwell.run.inputs.input_state import current_input_state

v1 = tf.compat.v1


@dataclass(frozen=True)
class RowBatches:
    """How rows become batches.

    Attributes:
        where: the function whose settings these are, for errors.
        batch_size: the number of rows in a batch; the last one has what is left.
        passes: how often each row comes in all; None is without end.
        window: out of how many rows the next one is drawn; None takes them in order, a negative number out of all.
    """

    where: str
    batch_size: int
    passes: int | None
    window: int | None

    def tensors(self, columns: Sequence[Column]) -> list[Any]:
        """The next batch of each column, in the graph that is being built.

        Raises:
            RuntimeError: there is no graph.
        """
        if tf.executing_eagerly():
            raise RuntimeError(
                f"{self.where}: the function that it made was called outside of a graph. Tensors of a graph that are "
                "computed again and again are not compatible with eager execution: pass the function to an Estimator, "
                "call it under `with tf.Graph().as_default():`, or use "
                "tf.data.Dataset.from_tensor_slices((features, labels)).batch(...) where you want to loop yourself."
            )
        seed = None if self.window is None else v1.get_seed(None)[1]  # called as often as the original calls it
        state = current_input_state()
        if state is None:
            return _from_one_shot_iterator(lambda: self._dataset(list(map(_permanent, columns)), seed))
        tensors = [state.tensor(column.array, column.dtype, "lightwell/array") for column in columns]
        batch: tuple[Any, ...] = state.iterator(self._dataset(tensors, seed)).get_next()
        return list(batch)

    def _dataset(self, tensors: Sequence[Any], seed: int | None) -> tf.data.Dataset:
        dataset = tf.data.Dataset.from_tensor_slices(tuple(tensors))
        if self.window is not None:
            rows = tensors[0].shape[0]
            dataset = dataset.shuffle(max(rows, 1) if self.window < 0 else self.window, seed)
        dataset = dataset.repeat(self.passes)
        return dataset.batch(self.batch_size, drop_remainder=self.passes is None)


def row_batches(
    where: str, *, batch_size: Any, num_epochs: Any, shuffle: Any, queue_capacity: Any, num_threads: Any
) -> RowBatches:
    """Checks the settings.

    Raises:
        UsageError: one is out of range.
        WrongType: one is no number.
    """
    if not isinstance(shuffle, bool):
        raise UsageError(
            f"{where}: shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
            f"training); got {shuffle}. Pass shuffle=True, or shuffle=False to evaluate and predict."
        )
    rows = _whole_number(where, "batch_size", batch_size)
    if rows < 1:
        raise UsageError(f"{where}: batch_size must be at least 1, got {rows}. It is the number of rows in a batch.")
    threads = _whole_number(where, "num_threads", num_threads)
    if threads < 1:
        raise UsageError(f"{where}: num_threads must be at least 1, got {threads}. Leave it out: there are no threads.")
    epochs = None if num_epochs is None else max(0, _whole_number(where, "num_epochs", num_epochs)) * threads
    try:
        capacity = int(queue_capacity)
    except (TypeError, ValueError) as error:
        raise WrongType(f"{where}: queue_capacity must be a number, got {queue_capacity!r}. Leave it out.") from error
    if capacity == 0:
        raise UsageError(
            f"{where}: queue_capacity must not be 0. It is the number of rows out of which shuffling draws the next; a "
            "negative number stands for all of them."
        )
    return RowBatches(where, rows, epochs, capacity if shuffle else None)


def _whole_number(where: str, name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError as error:
        raise WrongType(
            f"{where}: Expected int for {name}, got {value!r} of type {type(value).__name__!r} instead. Pass a whole "
            "number."
        ) from error


def _permanent(column: Column) -> Any:
    return permanent_tensor_of(column.array, column.dtype)


def _from_one_shot_iterator(make_dataset: Callable[[], tf.data.Dataset]) -> list[Any]:
    """The next element of a dataset, in a graph of the program's own: no session has to initialise anything.

    `make_one_shot_iterator` does the same, but takes no dataset whose arrays are outside of the graph, and has random
    ops that follow seeded otherwise than the queues of the original did.
    """
    spec: list[tf.TensorSpec] = []

    def dataset() -> Any:
        rows = make_dataset()
        spec[:] = rows.element_spec
        return tf.data.experimental.to_variant(rows)

    function = tf.function(dataset, autograph=False).get_concrete_function()
    output = {"output_types": [part.dtype for part in spec], "output_shapes": [part.shape for part in spec]}
    with tf.device("/cpu:0"):
        iterator = tf.raw_ops.OneShotIterator(dataset_factory=function, **output)
        batch: list[Any] = tf.raw_ops.IteratorGetNext(iterator=iterator, **output)
    return batch
