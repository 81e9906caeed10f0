"""Cells of `tf.contrib.data`."""

from __future__ import annotations

from collections.abc import Mapping

_DATA = "tensorflow:data.experimental"

CELLS: Mapping[str, str] = {
    name: f"{_DATA}.{name}"
    for name in (
        "AUTOTUNE",
        "assert_cardinality",
        "bucket_by_sequence_length",
        "dense_to_ragged_batch",
        "get_single_element",
        "group_by_window",
        "ignore_errors",
        "make_batched_features_dataset",
        "make_csv_dataset",
        "map_and_batch",
        "parallel_interleave",
        "prefetch_to_device",
        "sample_from_datasets",
        "shuffle_and_repeat",
        "unbatch",
    )
} | {
    "batch_and_drop_remainder": "!Use dataset.batch(n, drop_remainder=True).",
    "Counter": f"{_DATA}.Counter",
}
