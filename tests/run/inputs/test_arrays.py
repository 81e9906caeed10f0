"""Arrays beside the graph: later writing does not reach them, nothing is copied twice, memory is free in time."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
MEGABYTE = 2**20


def echo(features: Any, mode: str) -> Any:
    v1.get_variable("unused", [], initializer=tf.ones_initializer())
    return lw.EstimatorSpec(mode, predictions={"x": features})


def mean(features: Any, labels: Any, mode: str) -> Any:
    weight = v1.get_variable("weight", [], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.cast(features, tf.float32)) * weight
    with tf.control_dependencies([loss]):
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return lw.EstimatorSpec(mode, {"x": features}, loss, train_op)


def rows(array: Any, batch: int = 1) -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices(array).batch(batch)


def aligned(shape: Any, dtype: Any = np.float32) -> Any:
    """Zeros that start at a multiple of 64 bytes: TensorFlow uses such memory as it is."""
    memory = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : len(memory) - 64 + start].view(dtype).reshape(shape)


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / MEGABYTE


WRITABLE: dict[str, Any] = {
    "an array": lambda path: aligned([64]),
    "a view": lambda path: aligned([64, 2])[:, 0],
    "a file mapped to be written": lambda path: np.memmap(path, np.float32, "w+", shape=(64,)),
    "a file mapped, changes kept to the process": lambda path: np.memmap(file_of(path), np.float32, "c"),
    "a bytearray": lambda path: np.frombuffer(bytearray(256), np.float32),
}


def file_of(path: Path) -> Path:
    path.write_bytes(bytes(256))
    return path


@pytest.mark.parametrize("name", WRITABLE)
@pytest.mark.parametrize("is_marked", [False, True], ids=["", "and the one given marked read-only"])
def test_writing_later_changes_nothing(tmp_path: Path, name: str, is_marked: bool) -> None:
    array = WRITABLE[name](tmp_path / "file")
    given = array[:]
    given.flags.writeable = not is_marked
    found = []
    for row in lw.Estimator(echo, tmp_path / "model").predict(rows(given)):
        array[:] = 7
        found.append(row["x"])
    assert found == [0] * 64


def test_an_array_that_is_marked_read_only_may_have_been_viewed_before(tmp_path: Path) -> None:
    array = np.zeros(64, np.float32)
    view = array[:]
    array.flags.writeable = False
    found = []
    for row in lw.Estimator(echo, tmp_path).predict(rows(array)):
        view[:] = 7
        found.append(row["x"])
    assert found == [0] * 64


def test_a_buffer_refilled_for_each_call(tmp_path: Path) -> None:
    buffer, est = aligned([64]), lw.Estimator(mean, tmp_path)
    est.train(rows(buffer), steps=1)
    running = est.predict(rows(buffer))
    next(running)
    for number in (1, 2, 3):
        buffer[:] = number
        assert est.evaluate(rows(buffer))["loss"] == number
        buffer[:] = 0
    assert next(running)["x"] == 0


@pytest.fixture
def three_gigabytes(tmp_path: Path) -> Path:
    """A file of that size, of which the disk holds only what was written."""
    path = tmp_path / "rows.npy"
    made = np.lib.format.open_memmap(path, "w+", np.float32, (3 * 2**18, 1024))
    made[[0, -1]] = [[1.0], [2.0]]
    made.flush()
    return path


@pytest.mark.parametrize("take", [lambda path: np.load(path, mmap_mode="r"), lambda path: np.load(path, "r")[1:]])
def test_a_file_mapped_read_only_stays_on_disk(tmp_path: Path, three_gigabytes: Path, take: Any) -> None:
    array = take(three_gigabytes)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(array).skip(len(array) - 2).batch(1)

    est = lw.Estimator(mean, tmp_path / "model")
    before = resident()
    est.train(input_fn)
    assert est.get_variable_value("global_step") == 2
    assert est.evaluate(input_fn)["loss"] == 1.0
    assert [row["x"].mean() for row in est.predict(input_fn)] == [0, 2]
    assert resident() - before < 300


@pytest.mark.slow
def test_more_than_a_graph_can_hold(tmp_path: Path) -> None:
    array = np.zeros([3 * 2**10, 2**20], np.uint8)  # pages that nobody writes to take no memory
    array[-1] = 5

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(array).skip(len(array) - 1).batch(1)

    assert next(lw.Estimator(echo, tmp_path).predict(input_fn))["x"].tolist() == [5] * 2**20


@pytest.mark.parametrize("verb", ["train", "evaluate", "evaluate with a hook", "predict"])
def test_memory_is_free_when_the_run_is_over(tmp_path: Path, verb: str) -> None:
    est = lw.Estimator(mean, tmp_path)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(np.ones([10, 4 * MEGABYTE], np.float32)).batch(1)

    def call() -> None:
        if verb == "train":
            est.train(input_fn, steps=1)
        elif verb == "predict":
            next(est.predict(input_fn))
        else:
            est.evaluate(input_fn, steps=1, hooks=[v1.train.SessionRunHook()] if "hook" in verb else None)

    gc.collect()
    gc.disable()  # what waits for Python's collector is not free
    try:
        call()
        call()
        before = resident()
        for _ in range(3):
            call()
        assert resident() - before < 160
    finally:
        gc.enable()


def test_a_session_that_is_used_again_goes_over_the_arrays_of_each_call(tmp_path: Path) -> None:
    est = lw.Estimator(echo, tmp_path)
    for length in (3, 200, 1, 0, 200):
        array = np.arange(length, dtype=np.float32)
        assert [row["x"] for row in est.predict(rows(array, 2))] == array.tolist()


def test_the_graph_says_nothing_of_the_rows(tmp_path: Path) -> None:
    graphs: list[Any] = []

    def model_fn(features: Any, mode: str) -> Any:
        graphs.append(v1.get_default_graph())
        return echo(next(iter(features.values())), mode)

    est = lw.Estimator(model_fn, tmp_path)
    for length in (3001, 3002):
        columns = {str(number): np.zeros(length) for number in range(6)}
        list(est.predict(lambda columns=columns: tf.data.Dataset.from_tensor_slices(columns).batch(500)))
        est.close()
    one, other = (graph.as_graph_def() for graph in graphs)
    assert not {"3001", "3002"}.intersection(str([one, other]).split())
    assert [(node.op, node.name) for node in one.node] == [(node.op, node.name) for node in other.node]
    assert "RangeDataset" in {node.op for node in one.node}, "the columns are to be gathered by functions"


def test_a_graph_that_outlives_its_run_says_that_the_arrays_are_gone(tmp_path: Path) -> None:
    kept: list[Any] = []

    def input_fn() -> Any:
        kept.append(v1.data.make_initializable_iterator(rows(np.zeros(4))()))
        return kept[0].get_next()

    lw.Estimator(mean, tmp_path).train(input_fn, steps=1)
    graph = kept[0].initializer.graph
    text = "The arrays of this input_fn are gone: .*the run that called it, which is over. Make the dataset again"
    with v1.Session(graph=graph) as session, pytest.raises(tf.errors.UnknownError, match=text):
        session.run(kept[0].initializer)
