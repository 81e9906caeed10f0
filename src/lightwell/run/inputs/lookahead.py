"""Datasets with lookahead: each batch comes with a flag that says whether another step follows.

For processes that take every step together: one that runs out of batches would leave the others waiting, so it
announces its last step. To know which step is the last, a batch is read ahead.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

# Datasets that yield at most one element for each one they read: they end only if their input does.
_ENDS_WITH_INPUT = frozenset(
    "BatchDataset BatchDatasetV2 PaddedBatchDataset PaddedBatchDatasetV2 MapDataset ParallelMapDataset "
    "ParallelMapDatasetV2 MapAndBatchDataset ParallelBatchDataset PrefetchDataset ShuffleDataset ShuffleDatasetV2 "
    "ShuffleDatasetV3 OptionsDataset ShardDataset SkipDataset".split()
)


def may_end(dataset: tf.data.Dataset) -> bool:
    """Whether a dataset of this graph is not known to repeat for ever."""
    op = getattr(tf.data.experimental.to_variant(dataset), "op", None)
    while op is not None and op.type in _ENDS_WITH_INPUT:
        op = op.inputs[0].op
    if op is None or op.type != "RepeatDataset":
        return True
    count = tf.get_static_value(op.inputs[1])
    return count is None or int(count) >= 0


def with_lookahead(dataset: tf.data.Dataset, steps_of: int) -> tf.data.Dataset:
    """The elements of a dataset, each with whether there is one `steps_of` elements later."""
    spec = dataset.element_spec
    parts: Any = tf.nest.flatten(spec, expand_composites=True)
    types, shapes = [part.dtype for part in parts], [part.shape for part in parts]
    nothing = tf.raw_ops.OptionalNone()

    def to_optional(*element: Any) -> Any:
        return tf.raw_ops.OptionalFromValue(components=tf.nest.flatten(element, expand_composites=True))

    def shift(waiting: Any, newest: Any) -> Any:
        first, *others = waiting
        return (*others, newest), (first, tf.raw_ops.OptionalHasValue(optional=newest))

    def to_element(optional: Any, is_more: Any) -> Any:
        values = tf.raw_ops.OptionalGetValue(optional=optional, output_types=types, output_shapes=shapes)
        return tf.nest.pack_sequence_as(spec, values, expand_composites=True), is_more

    ended = tf.data.Dataset.from_tensors(nothing).repeat(steps_of)
    pairs = dataset.map(to_optional).concatenate(ended).scan((nothing,) * steps_of, shift).skip(steps_of)
    return pairs.map(to_element)


class LookaheadIterator:
    """Returns the elements of an iterator over `with_lookahead`, and stores the flag of the last one.

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
