"""Faster pipelines for datasets that only cut arrays into batches.

TensorFlow tunes every dataset with a model and a thread of its own. To start and stop those takes twenty milliseconds,
and each element is measured, though a pipeline of slices and batches has nothing to tune. Such a pipeline runs without
autotuning, and prefetches, which the tuning would have added. Where a batch consists of thousands of small parts (many
columns of many rows), the pipeline runs over row numbers instead, and the rows of a batch are gathered per column.

Takes an iterator with its dataset, returns another initialiser of the same iterator, with the same elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_MOST_AT_ONCE = 128
_MOST_BYTES_AT_ONCE = 2**24
# A call costs a GPU more than it costs a CPU, next to the steps in it: even big batches are taken in a burst.
_BURST_OF_GPU = 16
_MOST_BYTES_OF_GPU = 2**28
_AHEAD = 2
_ITERATORS = ("Iterator", "IteratorV2", "OneShotIterator", "AnonymousIterator", "AnonymousIteratorV2")
_MANY_COLUMNS = 4
_MANY_PARTS = 1024  # of a batch; with fewer, the function that gathers costs more than it saves
_SLICES = "TensorSliceDataset"
_BATCHES = ("BatchDataset", "BatchDatasetV2")
# Datasets with one input that treat all elements alike.
_PASSING_ON = (
    *"RepeatDataset TakeDataset SkipDataset ShardDataset PrefetchDataset".split(),
    *"ShuffleDataset ShuffleDatasetV2 ShuffleDatasetV3 ShuffleAndRepeatDatasetV2".split(),
)
_OTHERS = "TensorDataset RangeDataset ZipDataset ConcatenateDataset CacheDataset CacheDatasetV2".split()
_NOTHING_TO_TUNE = frozenset([_SLICES, *_BATCHES, *_PASSING_ON, *_OTHERS])


def lighter_initializer(iterator: Any, dataset: tf.data.Dataset, in_bursts: bool = False) -> Any:
    """An initialiser for `iterator` over the elements of `dataset`, or its own where there is something to tune.

    Made after the model, so that the ops of the model are numbered, and random ops seeded, as without it. Where batches
    are taken `in_bursts`, it is as many batches ahead as one of them takes.
    """
    source = iterator.initializer.inputs[0].op
    kinds = {op.type for op in datasets_behind(source)}
    if not kinds <= _NOTHING_TO_TUNE:
        return iterator.initializer
    chain = _chain(source)
    if chain:
        dataset = _gathered(chain)
    if source.type != "PrefetchDataset" or chain or in_bursts:
        dataset = dataset.prefetch(_ahead_of_bursts(source, dataset) if in_bursts else _AHEAD)
    options = tf.data.Options()
    options.autotune.enabled = False
    # TensorFlow would rewrite the pipeline, shuffle and repeat into one, with the same order of elements; for that it
    # copies the arrays.
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.map_parallelization = False
    variant = tf.data.experimental.to_variant(dataset.with_options(options))
    # `Iterator.make_initializer` does the same, but complains about a deprecation of its own.
    return tf.raw_ops.MakeIterator(dataset=variant, iterator=iterator.initializer.inputs[1])


def _ahead_of_bursts(source: tf.Operation, dataset: tf.data.Dataset) -> int:
    """As many batches as a burst may take; where their size is not known, TensorFlow's own choice."""
    rows = [tf.get_static_value(op.inputs[1]) for op in datasets_behind(source) if op.type in _BATCHES]
    parts = tf.nest.flatten(dataset.element_spec)
    numbers = [part.shape[1:].num_elements() if isinstance(part, tf.TensorSpec) else None for part in parts]
    if len(rows) != 1 or rows[0] is None or None in numbers:
        return int(tf.data.AUTOTUNE)
    size = int(rows[0]) * sum(part.dtype.size * number for part, number in zip(parts, numbers, strict=True))
    return max(_AHEAD, burst_length(size))


def burst_length(batch_bytes: int) -> int:
    """How many batches of this size are taken in a burst, at most."""
    size = max(batch_bytes, 1)
    count = min(_MOST_AT_ONCE, _MOST_BYTES_AT_ONCE // size)
    if tf.config.list_physical_devices("GPU"):
        count = max(count, min(_BURST_OF_GPU, _MOST_BYTES_OF_GPU // size))
    return max(count, 1)


def datasets_behind(source: tf.Operation) -> list[tf.Operation]:
    """The dataset ops that `source` reads from, itself included."""
    datasets, pending = [], [source]
    while pending:
        op = pending.pop()
        datasets.append(op)
        pending += [tensor.op for tensor in op.inputs if tensor.dtype == tf.variant]
    return datasets


def may_run_in_calling_thread(
    graph: tf.Graph, initializers: Sequence[tf.Operation], *, from_the_first: bool = False
) -> bool:
    """Whether steps that take batches of these iterators may run in the thread that calls.

    A pipeline runs its functions where the first step that took a batch ran: if that was in the calling thread, one by
    one. So it must have no functions; or, unless it is `from_the_first` step, a prefetching thread of its own,
    which the first step has started.
    """
    makers = [op for op in initializers if op.type == "MakeIterator"]
    safe = [op.inputs[1].op.name for op in makers if _is_safe(op.inputs[0].op, from_the_first)]
    return all(op.name in safe for op in graph.get_operations() if op.type in _ITERATORS)


def _is_safe(source: tf.Operation, from_the_first: bool) -> bool:
    while source.type == "OptionsDataset":
        source = source.inputs[0].op
    has_functions = any("func" in attribute.type for op in datasets_behind(source) for attribute in op.op_def.attr)
    return not has_functions or (source.type == "PrefetchDataset" and not from_the_first)


def _chain(source: tf.Operation) -> list[tf.Operation]:
    """The ops from the slices of arrays to `source`, if they make batches of many parts, in one way; else none."""
    chain = [source]
    while chain[0].type in (*_PASSING_ON, *_BATCHES):
        chain.insert(0, chain[0].inputs[0].op)
    columns, batched = chain[0].inputs, [op for op in chain if op.type in _BATCHES]
    if chain[0].type != _SLICES or len(batched) != 1 or any(column.dtype == tf.variant for column in columns):
        return []
    rows = tf.get_static_value(batched[0].inputs[1]) or 0
    return chain if len(columns) >= _MANY_COLUMNS and len(columns) * rows >= _MANY_PARTS else []


def _gathered(chain: Sequence[tf.Operation]) -> tf.data.Dataset:
    """The same batches, gathered by the numbers of their rows."""
    slices, *others = chain
    arrays = [_of_any_length(array) for array in slices.inputs]
    with tf.control_dependencies([slices]):  # it checks that the arrays are of one length
        rows = tf.shape(arrays[0], tf.int64)[0]
    numbers = tf.raw_ops.RangeDataset(
        start=tf.constant(0, tf.int64), stop=rows, step=tf.constant(1, tf.int64), **_of_numbers([])
    )
    shape: list[int | None] = []
    for op in others:
        if op.type in _BATCHES:
            shape = [_outermost_size(op)]
        if op.type != "PrefetchDataset":
            numbers = _copy_op(op, numbers, shape)
    batches = tf.data.experimental.from_variant(numbers, tf.TensorSpec(shape, tf.int64))
    return batches.map(lambda batch: tuple(tf.gather(array, batch) for array in arrays))


def _of_any_length(array: Any) -> Any:
    """The same array, without its number of rows in the graph, so that arrays of other lengths share the graph."""
    shape = array.shape if array.shape.rank is None else [None, *array.shape[1:]]
    return tf.compat.v1.placeholder_with_default(array, shape)


def _copy_op(op: tf.Operation, numbers: Any, shape: Sequence[int | None]) -> Any:
    """A copy of an op of the pipeline over row numbers, with the same other inputs, seeds and their state included."""
    inputs = dict(zip((argument.name for argument in op.op_def.input_arg), op.inputs, strict=True))
    settings = {
        attribute.name: op.get_attr(attribute.name)
        for attribute in op.op_def.attr
        if attribute.name not in ("output_types", "output_shapes", "metadata")
    }
    make = getattr(tf.raw_ops, op.type)
    return make(**{**inputs, "input_dataset": numbers, **settings, **_of_numbers(shape)})


def _of_numbers(shape: Sequence[int | None]) -> dict[str, Any]:
    return {"output_types": [tf.int64], "output_shapes": [tf.TensorShape(shape)]}


def _outermost_size(op: tf.Operation) -> int | None:
    """The number of rows of the batches, where it is the same for all."""
    shape = op.get_attr("output_shapes")[0]
    return None if shape.unknown_rank or shape.dim[0].size < 0 else int(shape.dim[0].size)
