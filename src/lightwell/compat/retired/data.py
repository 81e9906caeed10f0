"""Cells of `tf.contrib.data`."""

from __future__ import annotations

from collections.abc import Mapping

_TENSORFLOW = "tensorflow:compat.v1.data.experimental"
_KEPT = """
    AUTOTUNE Counter CsvDataset Optional RandomDataset Reducer SqlDataset TFRecordWriter assert_cardinality
    bucket_by_sequence_length choose_from_datasets copy_to_device dense_to_ragged_batch dense_to_sparse_batch
    enumerate_dataset get_next_as_optional get_single_element group_by_reducer group_by_window ignore_errors
    make_batched_features_dataset make_csv_dataset make_saveable_from_iterator map_and_batch parallel_interleave
    parse_example_dataset prefetch_to_device rejection_resample sample_from_datasets scan shuffle_and_repeat
    unbatch unique
"""
_OURS = """
    assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder read_batch_features reduce_dataset
    sliding_window_batch sloppy_interleave
"""
CELLS: Mapping[str, str] = (
    {name: f"{_TENSORFLOW}.{name}" for name in _KEPT.split()}
    | {name: f"lightwell.compat.contrib.data:{name}" for name in _OURS.split()}
    | {
        # Where it was before it became a method of tf.data.Dataset, and how old programs still spell it.
        "CheckpointInputPipelineHook": "!An interrupted training starts its input again; shuffle it with another seed.",
        "Dataset": "tensorflow:compat.v1.data.Dataset",
        "FixedLengthRecordDataset": "tensorflow:compat.v1.data.FixedLengthRecordDataset",
        "Iterator": "tensorflow:compat.v1.data.Iterator",
        "LMDBDataset": "!Use the package lmdb with tf.data.Dataset.from_generator, or write TFRecord files.",
        "TFRecordDataset": "tensorflow:compat.v1.data.TFRecordDataset",
        "TextLineDataset": "tensorflow:compat.v1.data.TextLineDataset",
        "filter_irregular_batches": "!Use dataset.batch(n, drop_remainder=True).",
    }
)
