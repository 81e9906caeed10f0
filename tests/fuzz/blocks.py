"""Kinds of blocks of a model: layers, weights by hand, embeddings, recurrent cells; all of `[rows, n]`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.fuzz.parts import FLAG, SEED, Whole, one_of, part

v1 = tf.compat.v1


@part("block", weight=3, units=Whole(2, 6), seed=SEED, activation=one_of(None, "relu", "tanh", "sigmoid", "elu"))
def dense(at: Any, h: Any, units: int, seed: int, activation: Any) -> Any:
    function = getattr(tf.nn, activation) if activation else None
    return v1.layers.dense(h, units, function, kernel_initializer=at.init(seed), name=at.name("dense"))


@part("block", weight=2, units=Whole(2, 6), seed=SEED, resource=one_of(True, False))
def by_hand(at: Any, h: Any, units: int, seed: int, resource: bool) -> Any:
    with v1.variable_scope(at.name("hand"), use_resource=resource):
        w = at.weights("w", [h.shape[1], units], seed)
        b = v1.get_variable("b", [units], initializer=v1.zeros_initializer())
    return tf.nn.relu(tf.matmul(h, w) + b)


@part("block", filters=Whole(1, 4), seed=SEED, stride=Whole(1, 2))
def conv1d(at: Any, h: Any, filters: int, seed: int, stride: int) -> Any:
    line = tf.expand_dims(h, 2)
    made = v1.layers.conv1d(
        line,
        filters,
        2,
        stride,
        "same",
        kernel_initializer=at.init(seed),
        name=at.name("conv1d"),
        activation=tf.nn.relu,
    )
    return v1.layers.flatten(made)


@part("block", filters=Whole(1, 4), seed=SEED, pool=one_of(None, "max", "average"))
def conv2d(at: Any, h: Any, filters: int, seed: int, pool: Any) -> Any:
    square = tf.reshape(tf.tile(h, [1, 2]), [-1, 2, h.shape[1], 1])
    made = v1.layers.conv2d(
        square, filters, 2, padding="same", kernel_initializer=at.init(seed), name=at.name("conv2d")
    )
    if pool == "max":
        made = v1.layers.max_pooling2d(made, 2, 2, padding="same")
    elif pool == "average":
        made = v1.layers.average_pooling2d(made, 2, 1, padding="same")
    return v1.layers.flatten(made)


@part("block", momentum=one_of(0.9, 0.5), fused=FLAG, tags=("update_ops", "sensitive"))
def batch_norm(at: Any, h: Any, momentum: float, fused: bool) -> Any:
    if fused:
        image = tf.reshape(h, [-1, 1, 1, h.shape[1]])
        made = v1.layers.batch_normalization(
            image, momentum=momentum, training=at.training, fused=True, name=at.name("norm")
        )
        return tf.reshape(made, [-1, h.shape[1]])
    return v1.layers.batch_normalization(h, momentum=momentum, training=at.training, name=at.name("norm"))


@part("block", rate=one_of(0.2, 0.5), seed=SEED, tags=("random",))
def dropout(at: Any, h: Any, rate: float, seed: int) -> Any:
    return v1.layers.dropout(h, rate, seed=seed, training=at.training)


@part("block", rate=one_of(0.2, 0.5), tags=("random", "seedless"), weight=0.5)
def dropout_by_graph_seed(at: Any, h: Any, rate: float) -> Any:
    return tf.nn.dropout(h, rate) if at.training else h


@part("block", width=Whole(2, 4), seed=SEED, needs=("ids",), parts=one_of(1, 2))
def embedded(at: Any, h: Any, width: int, seed: int, parts: int) -> Any:
    split = v1.fixed_size_partitioner(parts) if parts > 1 else None
    with v1.variable_scope(at.name("embedded"), partitioner=split):
        table = at.weights("table", [6, width], seed)
    return tf.concat([h, tf.nn.embedding_lookup(table, at.features["ids"])], 1)


@part("block", width=Whole(2, 4), seed=SEED, needs=("word",), buckets=Whole(1, 2), tags=("table", "vocabulary"))
def by_vocabulary(at: Any, h: Any, width: int, seed: int, buckets: int) -> Any:
    found = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(
            at.lab.path("vocabulary.txt"),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        ),
        buckets,
    )
    table = at.weights("words", [10 + buckets, width], seed)
    return tf.concat([h, tf.nn.embedding_lookup(table, found.lookup(at.features["word"]))], 1)


@part("block", width=Whole(2, 4), seed=SEED, needs=("word",), tags=("columns",))
def word_columns(at: Any, h: Any, width: int, seed: int) -> Any:
    column = tf.feature_column.categorical_column_with_hash_bucket("word", 7)
    column = v1.feature_column.embedding_column(column, width, initializer=at.init(seed))
    return tf.concat([h, v1.feature_column.input_layer({"word": at.features["word"]}, [column])], 1)


@part("block", needs=("word", "ids"), seed=SEED, tags=("columns", "vocabulary"))
def crossed_columns(at: Any, h: Any, seed: int) -> Any:
    fc = tf.feature_column
    known = fc.categorical_column_with_vocabulary_file("word", at.lab.path("vocabulary.txt"), num_oov_buckets=1)
    ids = fc.categorical_column_with_identity("ids", 6)
    crossed = fc.crossed_column(["word", ids], 9)
    columns = [fc.indicator_column(known), fc.embedding_column(crossed, 2, initializer=at.init(seed))]
    given = {name: at.features[name] for name in ("word", "ids")}
    return tf.concat([h, v1.feature_column.input_layer(given, columns)], 1)


@part("block", tags=("columns",))
def number_columns(at: Any, h: Any) -> Any:
    fc = tf.feature_column
    number = fc.numeric_column("first", normalizer_fn=lambda value: value * 2.0)
    columns = [number, fc.bucketized_column(fc.numeric_column("first"), [-0.5, 0.0, 0.5])]
    return tf.concat([h, v1.feature_column.input_layer({"first": at.features["x"][:, :1]}, columns)], 1)


@part("block", units=Whole(2, 4), seed=SEED, needs=("seq",), cell=one_of("BasicRNNCell", "GRUCell", "BasicLSTMCell"))
def recurrent(at: Any, h: Any, units: int, seed: int, cell: str) -> Any:
    with v1.variable_scope(at.name("rnn"), initializer=at.init(seed)):
        made = getattr(v1.nn.rnn_cell, cell)(units)
        outputs, _ = v1.nn.dynamic_rnn(made, at.features["seq"], at.features["length"], dtype=tf.float32)
    return tf.concat([h, outputs[:, -1], tf.reduce_sum(outputs, 1)], 1)


@part("block", seed=SEED, parts=one_of(2, 3))
def partitioned(at: Any, h: Any, seed: int, parts: int) -> Any:
    with v1.variable_scope(at.name("split"), partitioner=v1.fixed_size_partitioner(parts)):
        w = at.weights("w", [h.shape[1], 4], seed)
    return tf.matmul(h, tf.convert_to_tensor(w))


@part("block", seed=SEED, scale=one_of(0.01, 0.1))
def regularized(at: Any, h: Any, seed: int, scale: float) -> Any:
    made = v1.layers.dense(
        h,
        3,
        kernel_initializer=at.init(seed),
        kernel_regularizer=lambda w: scale * tf.reduce_sum(w * w),
        name=at.name("regularized"),
    )
    at.losses.append(v1.losses.get_regularization_loss())
    return made


@part("block", seed=SEED, needs=("ids",))
def one_hot_by_gather(at: Any, h: Any, seed: int) -> Any:
    w = at.weights("gathered", [6, h.shape[1]], seed)
    return h * tf.gather(w, at.features["ids"]) + tf.one_hot(at.features["ids"] % h.shape[1], h.shape[1])


@part("block", seed=SEED)
def two_towers(at: Any, h: Any, seed: int) -> Any:
    with v1.variable_scope(at.name("towers"), reuse=v1.AUTO_REUSE):
        made = [v1.layers.dense(value, 3, kernel_initializer=at.init(seed), name="shared") for value in (h, tf.sin(h))]
    return tf.concat([made[0], made[1]], 1)
