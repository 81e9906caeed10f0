"""Kinds of blocks about what stands around a model: sparse features, scaffolds, tensors by many names, wider types."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.fuzz.parts import FLAG, SEED, Whole, one_of, part

v1 = tf.compat.v1


def sparse_bag(at: Any) -> Any:
    """The feature with several ids in a row, whichever way it was handed over."""
    bag = at.features["bag"]
    if isinstance(bag, tf.RaggedTensor):
        return bag.to_sparse()
    return bag if isinstance(bag, tf.SparseTensor) else tf.sparse.from_dense(bag)


@part("block", needs=("bag",), seed=SEED, width=Whole(2, 3), how=one_of("sum", "mean", "sqrtn"), uses=(sparse_bag,))
def bagged(at: Any, h: Any, seed: int, width: int, how: str) -> Any:
    table = at.weights("bagged", [6, width], seed)
    return tf.concat([h, tf.nn.safe_embedding_lookup_sparse(table, sparse_bag(at), combiner=how)], 1)


@part("block", needs=("bag",), uses=(sparse_bag,))
def bag_columns(at: Any, h: Any) -> Any:
    column = tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_identity("bag", 6))
    return tf.concat([h, v1.feature_column.input_layer({"bag": sparse_bag(at)}, [column])], 1)


@part("block", needs=("bag",), uses=(sparse_bag,))
def bag_counts(at: Any, h: Any) -> Any:
    counts = tf.math.bincount(tf.cast(tf.sparse.to_dense(sparse_bag(at)), tf.int32), minlength=6, maxlength=6)
    return h + 0.01 * tf.cast(counts[1], tf.float32)


@part("block", kept=Whole(1, 3), tags=("scaffold",), weight=0.7)
def own_saver(at: Any, h: Any, kept: int) -> Any:
    at.scaffold["max_to_keep"] = kept
    return h


@part("block", seed=SEED, tags=("scaffold",), weight=0.7)
def own_start(at: Any, h: Any, seed: int) -> Any:
    """A weight that an `init_fn` sets, where no checkpoint does."""
    w = v1.get_variable(at.name("started"), [h.shape[1]], initializer=v1.ones_initializer())
    value = v1.placeholder(tf.float32, [h.shape[1]], name=at.name("start_value"))
    assigned = w.assign(value)
    width = int(h.shape[1])
    at.scaffold["init_fn"] = lambda scaffold, session: session.run(
        assigned.op, {value: [0.5 + 0.01 * seed * n for n in range(width)]}
    )
    return h * w


@part("block", weight=0.7)
def in_float64(at: Any, h: Any) -> Any:
    wide = tf.cast(h, tf.float64)
    scale = v1.get_variable(at.name("wide"), [], tf.float64, v1.ones_initializer())
    return tf.cast(wide * scale + 0.125, tf.float32)


@part("block", weight=0.7, custom=FLAG)
def custom_gradient(at: Any, h: Any, custom: bool) -> Any:
    @tf.custom_gradient
    def halved(value: Any) -> Any:
        return tf.identity(value), lambda change: 0.5 * change

    return halved(h) if custom else tf.stop_gradient(h) + h * 0.5


@part("block", weight=0.7, seed=SEED)
def variable_in_a_function(at: Any, h: Any, seed: int) -> Any:
    """A function that writes a variable that the model reads after it."""
    total = v1.get_variable(
        at.name("total"), [], initializer=v1.zeros_initializer(), trainable=False, use_resource=True
    )

    @tf.function
    def added(value: Any) -> Any:
        total.assign_add(tf.reduce_mean(value))
        return total.read_value()

    return h + 0.01 * added(tf.stop_gradient(h)) if at.training else h + 0.01 * total


@part("block", weight=0.7, seed=SEED, times=Whole(1, 3))
def written_in_a_while(at: Any, h: Any, seed: int, times: int) -> Any:
    """A loop of Autograph with a write inside."""
    steps = v1.get_variable(
        at.name("loops"), [], initializer=v1.zeros_initializer(), trainable=False, use_resource=True
    )
    if not at.training:
        return h

    @tf.function
    def looped(value: Any) -> Any:
        for _ in tf.range(times):
            steps.assign_add(1.0)
            value = tf.sin(value)
        return value

    return looped(h)


@part("block", weight=0.7, least=Whole(0, 3))
def written_in_a_cond(at: Any, h: Any, least: int) -> Any:
    """A variable that some steps write."""
    big = v1.get_variable(at.name("big"), [], initializer=v1.zeros_initializer(), trainable=False, use_resource=True)
    if not at.training:
        return h + 0.01 * big
    seen = tf.cond(tf.reduce_sum(h) > float(least), lambda: big.assign_add(1.0) + 0.0, lambda: big + 0.0)
    return h + 0.01 * tf.stop_gradient(seen)


@part("block", weight=0.5)
def printed(at: Any, h: Any) -> Any:
    with tf.control_dependencies([tf.print("rows", tf.shape(h)[0], output_stream="file:///dev/null")]):
        return tf.identity(h)


@part("block", weight=0.7, seed=SEED, tags=("random",))
def stateless_noise(at: Any, h: Any, seed: int) -> Any:
    """Draws that follow from the global step."""
    step = v1.train.get_or_create_global_step()
    drawn = tf.random.stateless_uniform([h.shape[1]], tf.stack([tf.cast(step.read_value(), tf.int32), seed]))
    return h + 0.1 * drawn


@part("block", weight=0.5)
def queued(at: Any, h: Any) -> Any:
    """Through a queue and out of it again."""
    queue = v1.FIFOQueue(2, [tf.float32], name=at.name("queue"))
    with tf.control_dependencies([queue.enqueue([h])]):
        back = queue.dequeue()
    return h + 0.0 * tf.stop_gradient(tf.reshape(back, tf.shape(h)))
