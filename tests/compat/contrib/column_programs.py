"""Programs over the old feature columns of `tf.contrib.layers`; see `playing.py`."""

from __future__ import annotations

import tempfile
from typing import Any


def _features(tf: Any) -> Any:
    places = [[0, 0], [1, 0], [1, 1], [2, 0]]
    return {
        "age": tf.constant([[1.0], [5.0], [9.0]]),
        "point": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "lang": tf.SparseTensor(places, ["en", "de", "fr", "zz"], [3, 2]),
        "id": tf.SparseTensor([[0, 0], [1, 0], [2, 0]], tf.constant([3, 1, 7], tf.int64), [3, 1]),
        "weight": tf.SparseTensor(places, [0.5, 2.0, 3.0, 1.0], [3, 2]),
        "city": tf.constant([["x"], ["y"], ["x"]]),
    }


def _columns(tf: Any) -> Any:
    layers = tf.contrib.layers
    age = layers.real_valued_column("age")
    keys = layers.sparse_column_with_keys("lang", ["en", "de", "fr"])
    buckets = layers.bucketized_column(age, [3.0, 7.0])
    key = layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    return {
        "age": age,
        "point": layers.real_valued_column("point", dimension=2, normalizer=lambda x: x / 2.0),
        "hashed": layers.sparse_column_with_hash_bucket("lang", 10),
        "city": layers.sparse_column_with_hash_bucket("city", 10),
        "keys": keys,
        "ids": layers.sparse_column_with_integerized_feature("id", 5),
        "buckets": buckets,
        "weighted": layers.weighted_sparse_column(keys, "weight"),
        "crossed": layers.crossed_column([keys, buckets], 20, hash_key=key),
    }


def dense_input(tf: Any) -> Any:
    layers, columns = tf.contrib.layers, _columns(tf)
    chosen = [
        columns["point"],
        layers.one_hot_column(columns["keys"]),
        columns["age"],
        layers.embedding_column(columns["keys"], 4),
        columns["buckets"],
        layers.embedding_column(columns["hashed"], 2, combiner="sum", max_norm=0.4),
        layers.one_hot_column(columns["ids"]),
    ]
    return {"out": layers.input_from_feature_columns(_features(tf), chosen, weight_collections=["my_weights"])}


def dense_input_of_weights_and_crossings(tf: Any) -> Any:
    layers, columns = tf.contrib.layers, _columns(tf)
    chosen = [
        layers.embedding_column(columns["weighted"], 2),
        layers.one_hot_column(columns["weighted"]),
        layers.embedding_column(columns["crossed"], 2),
    ]
    return {"out": layers.input_from_feature_columns(_features(tf), chosen, scope="deep")}


def shared_embeddings(tf: Any) -> Any:
    layers, columns = tf.contrib.layers, _columns(tf)
    shared = layers.shared_embedding_columns([columns["hashed"], columns["city"]], 3)
    return {"out": layers.input_from_feature_columns(_features(tf), shared)}


def linear(tf: Any) -> Any:
    columns = _columns(tf)
    out, variables, bias = tf.contrib.layers.weighted_sum_from_feature_columns(
        _features(tf), list(columns.values()), num_outputs=2
    )
    names = [variables[columns[name]][0].op.name for name in ("age", "keys", "crossed")]
    return {"out": out, "bias": tf.identity(bias), "names": tf.constant(names)}


def crossings_by_the_old_hash(tf: Any) -> Any:
    layers, columns, places = tf.contrib.layers, _columns(tf), [[0, 0], [1, 0], [1, 1], [2, 0]]
    two = layers.crossed_column([columns["keys"], columns["city"]], 1000)
    three = layers.crossed_column([columns["buckets"], columns["hashed"], columns["ids"]], 10**9)
    features = _features(tf)
    features["city"] = tf.SparseTensor(places, ["x", "y", "z", "x"], [3, 2])
    made = layers.transform_features(features, [two, three])
    return {
        "two": made[two].values,
        "where": made[two].indices,
        "three": made[three].values,
        "sum": layers.weighted_sum_from_feature_columns(features, [two], 1)[0],
    }


def linear_means(tf: Any) -> Any:
    layers = tf.contrib.layers
    hashed = layers.sparse_column_with_hash_bucket("lang", 10, combiner="mean")
    out, _, _ = layers.weighted_sum_from_feature_columns(_features(tf), [hashed], 1, scope="linear")
    return {"out": out}


def joint(tf: Any) -> Any:
    columns = _columns(tf)
    out, _, _ = tf.contrib.layers.joint_weighted_sum_from_feature_columns(
        _features(tf), [columns["hashed"], columns["keys"]], 2
    )
    return {"out": out}


def vocabulary(tf: Any) -> Any:
    layers = tf.contrib.layers
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write("en\nde\nfr\n")
    column = layers.sparse_column_with_vocabulary_file("lang", file.name, num_oov_buckets=1, vocab_size=3)
    return {"out": layers.input_from_feature_columns(_features(tf), [layers.one_hot_column(column)])}


def parsed(tf: Any) -> Any:
    layers, columns = tf.contrib.layers, _columns(tf)
    chosen = [columns[name] for name in ("age", "point", "weighted", "ids", "crossed")]
    spec = layers.create_feature_spec_for_parsing(chosen)
    example = tf.train.Example()
    example.features.feature["age"].float_list.value.append(4.0)
    example.features.feature["point"].float_list.value.extend([1.0, 2.0])
    example.features.feature["lang"].bytes_list.value.append(b"de")
    read = tf.parse_example(tf.constant([example.SerializeToString()]), spec)
    both = layers.parse_feature_columns_from_examples(tf.constant([example.SerializeToString()]), chosen[:1])
    return {
        "names": tf.constant(sorted(spec)),
        "age": read["age"],
        "lang": read["lang"].values,
        "column": both[columns["age"]],
    }


def inferred(tf: Any) -> Any:
    layers, features = tf.contrib.layers, _features(tf)
    dense = {name: features[name] for name in ("age", "point")}
    columns = layers.infer_real_valued_columns(dense)
    return {"out": layers.input_from_feature_columns(dense, columns), "names": tf.constant([c.name for c in columns])}


PROGRAMS: dict[str, Any] = {
    one.__name__: one
    for one in (
        dense_input,
        dense_input_of_weights_and_crossings,
        shared_embeddings,
        linear,
        crossings_by_the_old_hash,
        linear_means,
        joint,
        vocabulary,
        parsed,
        inferred,
    )
}
