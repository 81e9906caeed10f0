"""Arrays that `input_fn` makes datasets of stay out of the graph."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.inputs.feeding import arrays_fed

v1 = tf.compat.v1
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    x = tf.cast(features["x"] if isinstance(features, dict) else features, tf.float32)
    scale = v1.get_variable("scale", [], initializer=tf.ones_initializer())
    return lw.EstimatorSpec(mode, predictions={"x": x * scale})


def predicted(tmp_path: Path, input_fn: Any) -> np.ndarray:
    rows = lw.Estimator(model_fn, tmp_path).predict(input_fn)
    return np.stack([row["x"] for row in rows])


def constant_bytes(graph: tf.Graph) -> int:
    return sum(op.get_attr("value").ByteSize() for op in graph.get_operations() if op.type == "Const")


@pytest.mark.parametrize("wrap", [dict, OrderedDict, pd.DataFrame], ids=lambda kind: kind.__name__)
def test_arrays_are_fed_whatever_holds_them(wrap: Any) -> None:
    with tf.Graph().as_default() as graph, arrays_fed(graph) as fed:
        held = wrap({"x": np.zeros(50_000, np.float32)})
        tf.data.Dataset.from_tensor_slices(dict(held) if wrap is pd.DataFrame else held)
    assert [array.nbytes for array in fed.arrays] == [200_000]
    assert constant_bytes(graph) < 1_000


@pytest.mark.parametrize(
    "input_fn",
    [
        lambda: tf.data.Dataset.from_tensor_slices({"x": ROWS}).batch(4),
        lambda: tf.data.Dataset.from_tensors({"x": ROWS}),
        lambda: {"x": v1.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(ROWS)).get_next()},
        lambda: v1.data.Dataset.from_tensor_slices({"x": ROWS}).batch(4).make_one_shot_iterator().get_next(),
        lambda: tf.data.Dataset.from_tensor_slices(pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]})).batch(6),
        lambda: tf.data.Dataset.range(6).map(lambda i: tf.gather(ROWS, i)).batch(6),
    ],
    ids=["slices", "tensors", "one-shot function", "one-shot method", "frame", "inside map"],
)
def test_the_values_are_the_same(tmp_path: Path, input_fn: Any) -> None:
    np.testing.assert_array_equal(predicted(tmp_path, input_fn), ROWS)


def test_an_array_read_without_an_iterator_becomes_a_constant(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return {"x": tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(ROWS))}

    rows = lw.Estimator(model_fn, tmp_path).predict(input_fn)
    np.testing.assert_array_equal(next(rows)["x"], ROWS[0])


def test_a_large_constant_is_fed_when_a_dataset_is_made_of_it() -> None:
    large = np.zeros([600, 600], np.float32)
    with tf.Graph().as_default() as graph, arrays_fed(graph) as fed:
        tf.data.Dataset.from_tensor_slices(tf.constant(large))
        tf.data.Dataset.from_tensor_slices(v1.convert_to_tensor(large))
        tf.constant(large[:10])
    assert len(fed.arrays) == 2
    assert constant_bytes(graph) < 50_000


def test_a_large_constant_that_is_the_batch_itself_stays_one(tmp_path: Path) -> None:
    large = np.ones([600, 600], np.float32)
    rows = lw.Estimator(model_fn, tmp_path).predict(lambda: {"x": tf.constant(large)})
    assert next(rows)["x"].sum() == 600


def test_strings_are_fed_too(tmp_path: Path) -> None:
    def echo(features: Any, mode: str) -> Any:
        v1.get_variable("unused", [], initializer=tf.ones_initializer())
        return lw.EstimatorSpec(mode, predictions={"s": features["s"]})

    words = np.array(["a", "bé", ""])
    rows = lw.Estimator(echo, tmp_path).predict(lambda: tf.data.Dataset.from_tensor_slices({"s": words}).batch(2))
    assert [row["s"].decode() for row in rows] == ["a", "bé", ""]


def test_the_functions_are_put_back_after_an_error() -> None:
    before = (vars(tf.data.Dataset)["from_tensor_slices"], v1.data.make_one_shot_iterator)
    graph = tf.Graph()
    with pytest.raises(ZeroDivisionError), graph.as_default(), arrays_fed(graph):
        raise ZeroDivisionError
    assert (vars(tf.data.Dataset)["from_tensor_slices"], v1.data.make_one_shot_iterator) == before


def test_other_graphs_are_left_alone() -> None:
    with arrays_fed(tf.Graph()) as fed:
        assert next(iter(tf.data.Dataset.from_tensor_slices(ROWS))).numpy().tolist() == [0.0, 1.0]
    assert fed.arrays == []


def test_two_threads_keep_their_arrays_apart() -> None:
    before = tf.constant, vars(tf.data.Dataset)["from_tensor_slices"]
    both, found = threading.Barrier(2), {}

    def build(number: int) -> None:
        graph = tf.Graph()
        with graph.as_default(), arrays_fed(graph) as fed:
            both.wait()
            tf.data.Dataset.from_tensor_slices(np.full([3], number))
            both.wait()
        found[number] = [array.tolist() for array in fed.arrays]

    threads = [threading.Thread(target=build, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [[0, 0, 0]], 1: [[1, 1, 1]]}
    assert (tf.constant, vars(tf.data.Dataset)["from_tensor_slices"]) == before
