"""Variables that are alike are copied: ops, names, seeds and collections must be those that TensorFlow makes itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
SEED = 7


def many_variables(x: Any) -> Any:
    """Variables of all kinds that programs make, twice each, and what comes after them."""
    for place in range(2):
        with v1.variable_scope(f"block_{place}"):
            kernel = v1.get_variable("kernel", [4, 4])
            bias = v1.get_variable("bias", [4], initializer=v1.zeros_initializer())
            v1.get_variable("seeded", [4], initializer=v1.truncated_normal_initializer(seed=5), trainable=False)
            v1.get_variable("local", [4], initializer=v1.constant_initializer(0.5), collections=["local_variables"])
            v1.get_variable("listed", [4], initializer=v1.constant_initializer([1.0, 2.0, 3.0, 4.0]))
            v1.get_variable("own", [4], initializer=lambda shape, dtype, partition_info=None: tf.ones(shape, dtype))
            v1.get_variable("penalised", [4, 4], regularizer=tf.nn.l2_loss)
            with tf.device("/cpu:0"):
                v1.get_variable("placed", [4, 4])
            with tf.name_scope("inner"), tf.control_dependencies([x]):
                v1.get_variable("scoped", [4, 4])
            tf.constant(1.0, name="taken")
            taken = v1.get_variable("taken", [4, 4])
            x = tf.matmul(x, kernel) + bias + tf.reduce_sum(taken.read_value())
    return tf.nn.dropout(x, 0.5)


def seen_in(graph: tf.Graph) -> dict[str, Any]:
    return {
        "nodes": [op.node_def for op in graph.get_operations()],
        "collections": {
            key: [getattr(member, "name", member) for member in graph.get_collection(key)]
            for key in graph.get_all_collection_keys()
        },
        "next names": [
            graph.unique_name(f"block_1/kernel/{name}", False) for name in ("Read", "Initializer", "Assign")
        ],
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What TensorFlow builds by itself, and what three calls of an Estimator build."""
    seen = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        outputs = many_variables(features)
        seen.append(seen_in(v1.get_default_graph()))
        return lw.EstimatorSpec(mode, predictions=outputs)

    with tf.Graph().as_default() as graph:
        v1.set_random_seed(SEED)
        features = tf.ones([2, 4])
        v1.train.create_global_step()
        model_fn(features, None, "infer")
    for _ in range(3):
        config = lw.RunConfig(tf_random_seed=SEED)
        estimator = lw.Estimator(model_fn, str(tmp_path_factory.mktemp("model")), config)
        next(iter(estimator.predict(lambda: tf.ones([2, 4]))))
    del graph
    return seen


@pytest.mark.parametrize("what", ["nodes", "collections", "next names"])
def test_what_an_estimator_builds_is_what_tensorflow_builds(built: list[dict[str, Any]], what: str) -> None:
    by_tensorflow, *by_us = built
    assert len(by_us) == 3
    for ours in by_us:
        if what == "nodes":  # input_fn is called on the CPU
            ours["nodes"][0].device = by_tensorflow["nodes"][0].device
        assert ours[what] == by_tensorflow[what]


def test_copied_variables_train_as_others_do(tmp_path: Path) -> None:
    """Gradients, slots, assignments, partial reads: a copied variable is a whole one."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        tables = [v1.get_variable(name, [3, 2]) for name in "abc"]
        loss = tf.add_n([tf.reduce_sum(tf.nn.embedding_lookup(table, features)) for table in tables])
        step = v1.train.get_global_step()
        with tf.control_dependencies([v1.train.AdamOptimizer(0.1).minimize(loss, global_step=step)]):
            train_op = tables[2].assign(tf.zeros([3, 2]))
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op.op, predictions={"a": tables[0][None, 0]})

    weights = []
    for name in ("first", "second"):
        estimator = lw.Estimator(model_fn, str(tmp_path / name), lw.RunConfig(tf_random_seed=SEED))
        estimator.train(lambda: tf.constant([0, 2]), steps=3)
        weights.append({key: estimator.get_variable_value(key) for key in estimator.get_variable_names()})
    assert weights[0].keys() == weights[1].keys() >= {"a", "a/Adam", "b/Adam_1", "global_step"}
    for key, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][key])
    assert not np.array_equal(weights[0]["a"], weights[0]["b"])
    assert not weights[0]["c"].any()
