"""`tf.contrib.data`: the few transformations that `tf.data.experimental` did not take along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

_v1 = tf.compat.v1
_Transformation = Callable[[Any], Any]


def batch_and_drop_remainder(batch_size: Any) -> _Transformation:
    """Batches; a last one that is not full is left out."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any = None, padding_values: Any = None
) -> _Transformation:
    """Padded batches; a last one that is not full is left out."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def assert_element_shape(expected_shapes: Any) -> _Transformation:
    """Elements of these shapes; another one is an error, when it comes."""

    def apply(dataset: Any) -> Any:
        shapes = _flat_shapes(expected_shapes, len(tf.nest.flatten(dataset.element_spec)))

        def shaped(*element: Any) -> Any:
            values = element[0] if len(element) == 1 else element
            flat = tf.nest.flatten(values)
            checked = [tf.ensure_shape(value, shape) for value, shape in zip(flat, shapes, strict=True)]
            return tf.nest.pack_sequence_as(values, checked)

        return dataset.map(shaped)

    return apply


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> _Transformation:
    """Batches of `window_size` elements, each beginning `window_shift` elements after the one before.

        Dataset.range(10).apply(sliding_window_batch(3))        # [0 1 2], [1 2 3], ...

    Args:
        window_size: how many elements a window has; one that is not full is left out.
        stride: `window_shift` by its older name.
        window_shift: from the first element of a window to that of the next; 1 if None.
        window_stride: from one element of a window to the next.
    """
    if stride is not None and window_shift is not None:
        raise UsageError("sliding_window_batch: Cannot specify both `window_shift` and `stride`.")
    shift = stride if window_shift is None else window_shift

    def apply(dataset: Any) -> Any:
        windows = dataset.window(window_size, 1 if shift is None else shift, window_stride, drop_remainder=True)

        def joined(*window: Any) -> Any:
            parts = tf.nest.map_structure(lambda part: part.batch(window_size), window)
            return parts[0] if len(parts) == 1 and isinstance(parts[0], tf.data.Dataset) else _zipped(parts)

        return windows.flat_map(joined)

    return apply


def sloppy_interleave(map_func: Any, cycle_length: Any, block_length: Any = 1) -> _Transformation:
    """Elements of several datasets by turns, of whichever has one."""
    return _v1.data.experimental.parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """All elements in one value, by the first two functions of a `Reducer`; its last is never called."""
    return dataset.reduce(reducer.init_func(tf.constant(0, tf.int64)), reducer.reduce_func)


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = None,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """The next batch of parsed examples from files: tensors by name."""
    dataset = _v1.data.experimental.make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader or _v1.data.TFRecordDataset,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return _v1.data.make_one_shot_iterator(dataset).get_next()


def _zipped(parts: Any) -> Any:
    return tf.data.Dataset.zip(parts[0] if len(parts) == 1 else parts)


def _flat_shapes(shapes: Any, count: int) -> list[Any]:
    if count == 1:
        return [shapes[0] if isinstance(shapes, tuple) and len(shapes) == 1 else shapes]
    flat = list(shapes.values()) if isinstance(shapes, dict) else list(shapes)
    if len(flat) != count:
        raise UsageError(f"assert_element_shape: expected {count} shapes, one for each part, got {len(flat)}.")
    return flat
