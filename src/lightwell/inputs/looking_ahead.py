"""Input that knows when it ends: each batch comes with whether a step after it has one.

For processes that take every step together: one whose batches are at an end would leave the others waiting, unless it
tells them with its last step. To know, a batch is read ahead.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

# What gives as many elements as it takes, or fewer for each of them, so that without an end there it has none.
_ONE_FOR_SOME = frozenset(
    "BatchDataset BatchDatasetV2 PaddedBatchDataset PaddedBatchDatasetV2 MapDataset ParallelMapDataset "
    "ParallelMapDatasetV2 MapAndBatchDataset ParallelBatchDataset PrefetchDataset ShuffleDataset ShuffleDatasetV2 "
    "ShuffleDatasetV3 OptionsDataset ShardDataset SkipDataset".split()
)


def may_end(dataset: tf.data.Dataset) -> bool:
    """Whether a dataset of this graph is other than one that repeats for ever."""
    op = getattr(tf.data.experimental.to_variant(dataset), "op", None)
    while op is not None and op.type in _ONE_FOR_SOME:
        op = op.inputs[0].op
    if op is None or op.type != "RepeatDataset":
        return True
    count = tf.get_static_value(op.inputs[1])
    return count is None or int(count) >= 0


def looking_ahead(dataset: tf.data.Dataset, steps_of: int) -> tf.data.Dataset:
    """The elements of a dataset, each with whether the one `steps_of` behind it is there."""
    spec = dataset.element_spec
    parts: Any = tf.nest.flatten(spec, expand_composites=True)
    types, shapes = [part.dtype for part in parts], [part.shape for part in parts]
    nothing = tf.raw_ops.OptionalNone()

    def held(*element: Any) -> Any:
        return tf.raw_ops.OptionalFromValue(components=tf.nest.flatten(element, expand_composites=True))

    def passed_on(waiting: Any, newest: Any) -> Any:
        first, *others = waiting
        return (*others, newest), (first, tf.raw_ops.OptionalHasValue(optional=newest))

    def element(held: Any, is_more: Any) -> Any:
        values = tf.raw_ops.OptionalGetValue(optional=held, output_types=types, output_shapes=shapes)
        return tf.nest.pack_sequence_as(spec, values, expand_composites=True), is_more

    ended = tf.data.Dataset.from_tensors(nothing).repeat(steps_of)
    pairs = dataset.map(held).concatenate(ended).scan((nothing,) * steps_of, passed_on).skip(steps_of)
    return pairs.map(element)


class AheadIterator:
    """Gives the elements of an iterator over `looking_ahead`, and keeps what came with the last one.

    Attributes:
        is_more: whether a step after the one that the last element belongs to has a batch.
    """

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self.is_more: Any = None

    def get_next(self) -> Any:
        """The next element."""
        element, self.is_more = self._iterator.get_next()
        return element
