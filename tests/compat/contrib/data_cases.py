"""Cases of `tf.contrib.data`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
Dataset = v1.data.Dataset


def _all(dataset: Any, count: int) -> Any:
    batch = v1.data.make_one_shot_iterator(dataset).get_next()
    return [batch] * count


def batching(contrib: Any) -> Any:
    data = contrib.data
    ten = Dataset.range(10)
    rows = ten.map(lambda n: tf.fill([n % 3 + 1], n))
    return {
        "map_and_batch": _all(ten.apply(data.map_and_batch(lambda n: n * 2, 4)), 3),
        "map_and_batch_full": _all(
            ten.apply(data.map_and_batch(lambda n: n * 2, 4, num_parallel_batches=2, drop_remainder=True)), 2
        ),
        "parallel_calls": _all(ten.apply(data.map_and_batch(lambda n: n, 5, num_parallel_calls=2)), 2),
        "drop": _all(ten.apply(data.batch_and_drop_remainder(4)), 2),
        "padded_drop": _all(rows.apply(data.padded_batch_and_drop_remainder(3, [None])), 3),
        "unbatch": _all(ten.batch(4).apply(data.unbatch()), 5),
        "sliding": _all(ten.apply(data.sliding_window_batch(3)), 4),
        "sliding_shift": _all(ten.apply(data.sliding_window_batch(3, window_shift=2, window_stride=2)), 3),
        "sliding_pairs": _all(Dataset.zip((ten, {"a": ten})).apply(data.sliding_window_batch(4, stride=3)), 2),
        "sparse": _all(rows.apply(data.dense_to_sparse_batch(3, [4])), 2),
        "bucketed": _all(
            rows.apply(data.bucket_by_sequence_length(lambda row: tf.shape(row)[0], [2, 3], [2, 2, 2])), 3
        ),
        "grouped": _all(
            ten.apply(data.group_by_window(lambda n: n % 2, lambda key, rows: rows.batch(3), window_size=3)), 2
        ),
        "enumerated": _all(ten.apply(data.enumerate_dataset(start=5)), 2),
        "single": data.get_single_element(ten.take(1)),
        "counter": _all(data.Counter(3, step=2), 2),
        "unique": _all(ten.map(lambda n: n // 4).apply(data.unique()), 3),
        "scanned": _all(ten.apply(data.scan(tf.constant(0, tf.int64), lambda total, n: (total + n, total + n))), 4),
        "shaped": _all(ten.batch(5).apply(data.assert_element_shape([5])), 1),
        "ignored": _all(
            ten.map(lambda n: v1.debugging.check_numerics(1.0 / tf.cast(n - 1, tf.float32), "")).apply(
                data.ignore_errors()
            ),
            3,
        ),
        "autotune": tf.constant(getattr(data, "AUTOTUNE", -1)),
    }


def interleaving(contrib: Any) -> Any:
    data = contrib.data
    three = Dataset.range(3)

    def rows(n: Any) -> Any:
        return Dataset.from_tensors(n).repeat(4)

    reducer = data.Reducer(
        lambda key: tf.constant(0, tf.int64), lambda state, n: state + n, lambda state: tf.stack([state, -state])
    )
    return {
        "interleaved": _all(three.apply(data.parallel_interleave(rows, cycle_length=2, block_length=2)), 12),
        "chosen": _all(
            data.choose_from_datasets(
                [three, three.map(lambda n: n + 10)],
                Dataset.from_tensor_slices([1, 0, 1]).map(lambda n: tf.cast(n, tf.int64)),
            ),
            3,
        ),
        "one_source": _all(data.sample_from_datasets([three, three], [1.0, 0.0], seed=1), 3),
        "shuffled": _all(three.apply(data.shuffle_and_repeat(1, count=2)), 6),
        "reduced": data.reduce_dataset(three, reducer),
        "by_reducer": _all(three.apply(data.group_by_reducer(lambda n: n % 2, reducer)), 2),
    }


def files(contrib: Any) -> Any:
    data = contrib.data
    folder = tempfile.mkdtemp()
    table = os.path.join(folder, "rows.csv")
    with open(table, "w") as opened:
        opened.write("a,b,c\n1,2.5,x\n3,4.5,y\n5,6.5,z\n")
    records = os.path.join(folder, "rows.tfrecord")
    with v1.python_io.TFRecordWriter(records) as writer:
        for number in range(4):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"n": feature})).SerializeToString())
    features = {"n": v1.FixedLenFeature([], tf.int64)}
    parsed = v1.data.TFRecordDataset(records).batch(2).apply(data.parse_example_dataset(features))
    return {
        "csv": _all(data.CsvDataset(table, [tf.int32, tf.float32, tf.string], header=True), 3),
        "made_csv": _all(data.make_csv_dataset(table, 2, label_name="a", shuffle=False, num_epochs=1), 2),
        "batched_features": _all(
            data.make_batched_features_dataset(records, 3, features, shuffle=False, num_epochs=1), 2
        ),
        "parsed": _all(parsed, 2),
        "read": data.read_batch_features(
            records, 2, features, v1.data.TFRecordDataset, randomize_input=False, num_epochs=1
        ),
    }


CASES = {"batching": batching, "interleaving": interleaving, "files": files}
