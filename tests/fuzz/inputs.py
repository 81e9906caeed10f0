"""Kinds of input: sources of rows, what is done with them on the way, how they are handed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.fuzz.parts import FLAG, SEED, Whole, one_of, part
from tests.fuzz.runtime import arrays

v1 = tf.compat.v1


@part("source")
def slices(lab: Any, data: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(arrays(**data))


@part("source")
def generated(lab: Any, data: Any) -> Any:
    features, y = arrays(**data)

    def rows() -> Any:
        for row in range(len(y)):
            yield {name: values[row] for name, values in features.items()}, y[row]

    types = {name: tf.as_dtype(tf.string if v.dtype.kind == "S" else v.dtype) for name, v in features.items()}
    shapes = {name: values.shape[1:] for name, values in features.items()}
    return tf.data.Dataset.from_generator(rows, (types, tf.float32), (shapes, ()))


@part("source")
def records(lab: Any, data: Any) -> Any:
    features, y = arrays(**data)
    path = lab.path(f"rows-{data['seed']}-{data['rows']}.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for row in range(len(y)):
            held = {}
            for name, values in {**features, "y": y}.items():
                flat = np.ravel(values[row])
                if flat.dtype.kind == "S":
                    held[name] = tf.train.Feature(bytes_list=tf.train.BytesList(value=flat.tolist()))
                elif flat.dtype.kind == "f":
                    held[name] = tf.train.Feature(float_list=tf.train.FloatList(value=flat.tolist()))
                else:
                    held[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=flat.tolist()))
            writer.write(tf.train.Example(features=tf.train.Features(feature=held)).SerializeToString())
    kinds = {"S": tf.string, "f": tf.float32, "i": tf.int64}
    columns = {
        name: tf.io.FixedLenFeature(values.shape[1:], kinds[values.dtype.kind])
        for name, values in {**features, "y": y}.items()
    }

    def parsed(record: Any) -> Any:
        row = tf.io.parse_single_example(record, columns)
        if "length" in row:
            row["length"] = tf.cast(row["length"], tf.int32)
        y = row.pop("y")
        return row, y

    return tf.data.TFRecordDataset(path).map(parsed)


@part("source")
def text_lines(lab: Any, data: Any) -> Any:
    features, y = arrays(**{**data, "extras": ()})
    width = data["width"]
    path = lab.path(f"rows-{data['seed']}-{data['rows']}.csv")
    with open(path, "w") as file:
        for row in range(len(y)):
            file.write(",".join(f"{value:.6f}" for value in [*features["x"][row], y[row]]) + "\n")

    def parsed(line: Any) -> Any:
        columns = tf.io.decode_csv(line, [[0.0]] * (width + 1))
        return {"x": tf.stack(columns[:-1])}, columns[-1]

    rest, _ = arrays(**data)
    rest.pop("x")
    lines = tf.data.TextLineDataset(path).map(parsed)
    if not rest:
        return lines
    both = tf.data.Dataset.zip((lines, tf.data.Dataset.from_tensor_slices(rest)))
    return both.map(lambda line, more: ({**line[0], **more}, line[1]))


@part("source")
def interleaved(lab: Any, data: Any) -> Any:
    features, y = arrays(**data)

    def third(start: Any) -> Any:
        whole = tf.data.Dataset.from_tensor_slices((features, y))
        return whole.skip(start).take(tf.cast(len(y) // 3, tf.int64))

    starts = tf.data.Dataset.range(3).map(lambda n: n * (len(y) // 3))
    return starts.interleave(third, cycle_length=2, block_length=2)


@part("stage", buffer=Whole(2, 30), seed=SEED, anew=FLAG, tags=("shuffled",))
def shuffled(lab: Any, ds: Any, buffer: int, seed: int, anew: bool) -> Any:
    return ds.shuffle(buffer, seed=seed, reshuffle_each_iteration=anew)


@part("stage", seed=SEED, tags=("random",))
def noisy(lab: Any, ds: Any, seed: int) -> Any:
    def noise(features: Any, y: Any) -> Any:
        x = features["x"] + tf.random.uniform([features["x"].shape[-1]], -0.1, 0.1, seed=seed)
        return {**features, "x": x}, y

    return ds.map(noise)


@part("stage")
def conditional(lab: Any, ds: Any) -> Any:
    def changed(features: Any, y: Any) -> Any:
        x = tf.cond(y > 0, lambda: features["x"] * 2.0, lambda: features["x"] + 1.0)
        return {**features, "x": x}, y

    return ds.map(changed)


@part("stage", of=Whole(2, 3))
def filtered(lab: Any, ds: Any, of: int) -> Any:
    return ds.enumerate().filter(lambda n, row: n % of != 0).map(lambda n, row: row)


@part("stage")
def cached(lab: Any, ds: Any) -> Any:
    return ds.cache()


@part("stage", tags=("python",), weight=0.4)
def through_python(lab: Any, ds: Any) -> Any:
    def changed(features: Any, y: Any) -> Any:
        x = tf.numpy_function(lambda value: (value * np.float32(0.5)).astype(np.float32), [features["x"]], tf.float32)
        return {**features, "x": tf.reshape(x, features["x"].shape)}, y

    return ds.map(changed)


@part("stage", weight=0.6)
def with_a_table(lab: Any, ds: Any) -> Any:
    keys, values = tf.constant([0, 1, 2], tf.int64), tf.constant([0.1, 0.2, 0.3])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), 0.0)
    return ds.enumerate().map(lambda n, row: ({**row[0], "x": row[0]["x"] + table.lookup(n % 4)}, row[1]))


@part("stage", buffer=Whole(1, 4))
def prefetched(lab: Any, ds: Any, buffer: int) -> Any:
    return ds.prefetch(buffer)


@part("batches", size=Whole(2, 7))
def batched(lab: Any, ds: Any, size: int) -> Any:
    return ds.batch(size)


@part("batches", size=Whole(2, 7))
def of_one_size(lab: Any, ds: Any, size: int) -> Any:
    return ds.batch(size, drop_remainder=True)


@part("batches", size=Whole(2, 7))
def padded(lab: Any, ds: Any, size: int) -> Any:
    return ds.padded_batch(size)


@part("batches", size=Whole(2, 5), times=Whole(2, 3))
def unbatched_again(lab: Any, ds: Any, size: int, times: int) -> Any:
    return ds.batch(size).unbatch().batch(size * times)


@part("handed", weight=4)
def as_dataset(lab: Any, ds: Any, data: Any) -> Any:
    return ds


@part("handed", tags=("iterator",))
def by_one_shot_iterator(lab: Any, ds: Any, data: Any) -> Any:
    return v1.data.make_one_shot_iterator(ds).get_next()


@part("handed", tags=("iterator",))
def by_initializable_iterator(lab: Any, ds: Any, data: Any) -> Any:
    iterator = v1.data.make_initializable_iterator(ds)
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


@part("handed", how=one_of("sparse", "ragged"))
def with_sparse_bags(lab: Any, ds: Any, data: Any, how: str) -> Any:
    def changed(features: Any, y: Any) -> Any:
        if "bag" in features:
            bag = tf.cast(features["bag"], tf.int64)
            bag = tf.sparse.from_dense(bag) if how == "sparse" else tf.RaggedTensor.from_tensor(bag, padding=0)
            features = {**features, "bag": bag}
        return features, y

    return ds.map(changed)


@part("handed", weight=0.7)
def dict_labels(lab: Any, ds: Any, data: Any) -> Any:
    return ds.map(lambda features, y: (features, {"y": y}))


@part("handed", weight=0.7)
def filtered_batches(lab: Any, ds: Any, data: Any) -> Any:
    return ds.filter(lambda features, y: tf.shape(y)[0] > 1).take(1000)


@part("handed", tags=("bare",))
def bare_features(lab: Any, ds: Any, data: Any) -> Any:
    return ds.map(lambda features, y: (features["x"], y))


@part("handed", tags=("iterator", "endless"), size=Whole(2, 7))
def constant_tensors(lab: Any, ds: Any, data: Any, size: int) -> Any:
    features, y = arrays(**{**data, "rows": size})
    return {name: tf.constant(values) for name, values in features.items()}, tf.constant(y)


@part("handed", tags=("queue",), size=Whole(2, 7), epochs=Whole(1, 12))
def numpy_inputs(lab: Any, ds: Any, data: Any, size: int, epochs: int) -> Any:
    features, y = arrays(**data)
    return v1.estimator.inputs.numpy_input_fn(
        features, y, batch_size=size, num_epochs=epochs, shuffle=False, num_threads=1
    )()
