"""Event files: what TensorBoard will find in a directory."""

from __future__ import annotations

import gc
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

from lightwell.run import events

v1 = tf.compat.v1


@pytest.fixture
def graph(tmp_path: Path) -> Any:
    with tf.Graph().as_default():
        v1.summary.FileWriterCache.get(str(tmp_path))  # writes the graph it is made in: here, an empty one
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="one")
        yield graph


def read(directory: Path) -> list[Any]:
    """All events of a directory, but for those that come with a new writer: the file's version and an empty graph."""
    v1.summary.FileWriterCache.get(str(directory)).flush()
    found = [event for file in sorted(directory.glob("events.*")) for event in v1.train.summary_iterator(str(file))]
    return found[3:]


def test_one_writer_per_directory_shared_with_tensorflows_hooks(graph: Any, tmp_path: Path) -> None:
    writer = events.writer(str(tmp_path))
    assert writer is events.writer(str(tmp_path))
    assert writer is v1.summary.FileWriterCache.get(str(tmp_path))


def test_a_graph_with_its_meta_graph_once(graph: Any, tmp_path: Path) -> None:
    directory = tmp_path / "eval"
    for _ in range(2):
        events.write_graph(str(directory), graph)
    v1.summary.FileWriterCache.get(str(directory)).flush()
    (file,) = directory.glob("events.*")
    _, plain, meta = v1.train.summary_iterator(str(file))
    assert [node.name for node in v1.GraphDef.FromString(plain.graph_def).node] == ["one"]
    assert "_output_shapes" in v1.GraphDef.FromString(plain.graph_def).node[0].attr
    assert v1.MetaGraphDef.FromString(meta.meta_graph_def).graph_def.node[0].name == "one"


def test_marks(graph: Any, tmp_path: Path) -> None:
    events.mark_start(str(tmp_path), 7)
    events.mark_checkpoint(str(tmp_path), "/m/model.ckpt", 9)
    start, checkpoint = read(tmp_path)
    assert (start.step, start.session_log.status) == (7, v1.SessionLog.START)
    assert (checkpoint.step, checkpoint.session_log.status) == (9, v1.SessionLog.CHECKPOINT)
    assert checkpoint.session_log.checkpoint_path == "/m/model.ckpt"


def test_a_number(graph: Any, tmp_path: Path) -> None:
    events.write_scalar(str(tmp_path), "global_step/sec", 2.5, 3)
    (event,) = read(tmp_path)
    assert (event.step, event.summary.value[0].tag, event.summary.value[0].simple_value) == (3, "global_step/sec", 2.5)


def test_metrics_are_sorted_numbers_and_the_checkpoint_a_text(graph: Any, tmp_path: Path) -> None:
    values = {"loss": np.float32(0.5), "auc": 1, "n": np.int64(3), "zero_d": np.array(2.0), "global_step": np.int64(4)}
    events.write_metrics(str(tmp_path), values, 4, "/m/model.ckpt-4")
    metrics, checkpoint = read(tmp_path)
    assert {v.tag: v.simple_value for v in metrics.summary.value} == {"auc": 1, "loss": 0.5, "n": 3, "zero_d": 2}
    assert [v.tag for v in metrics.summary.value] == ["auc", "loss", "n", "zero_d"]
    assert metrics.step == checkpoint.step == 4
    (text,) = checkpoint.summary.value
    assert text.tag == "checkpoint_path"
    assert text.metadata.plugin_data.plugin_name == "text"
    assert tf.make_ndarray(text.tensor).item() == b"/m/model.ckpt-4"


def test_without_a_checkpoint_none_is_named(graph: Any, tmp_path: Path) -> None:
    events.write_metrics(str(tmp_path), {"loss": 1.0}, 0, None)
    assert len(read(tmp_path)) == 1


def test_an_array_is_kept_as_a_tensor(graph: Any, tmp_path: Path) -> None:
    events.write_metrics(str(tmp_path), {"confusion": np.eye(2)}, 0, None)
    (value,) = read(tmp_path)[0].summary.value
    assert np.array_equal(tf.make_ndarray(value.tensor), np.eye(2))


def test_a_serialized_summary_is_taken_in(graph: Any, tmp_path: Path) -> None:
    part = v1.Summary(value=[v1.Summary.Value(tag="x", simple_value=1.0), v1.Summary.Value(tag="y", simple_value=2.0)])
    events.write_metrics(str(tmp_path), {"images": part.SerializeToString()}, 0, None)
    found = read(tmp_path)[0].summary.value
    assert [(value.tag, value.simple_value) for value in found] == [("images/0", 1.0), ("images/1", 2.0)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"\xff\xff", "WARNING Skipping summary for odd, cannot parse string to Summary."),
        (True, "WARNING Skipping summary for odd, must be a number or an array of numbers, got <class 'bool'>."),
        (np.bool_(True), "WARNING Skipping summary for odd, must be a number"),
        ("text", "WARNING Skipping summary for odd, must be a number"),
    ],
)
def test_what_is_no_number_is_left_out_and_said(
    graph: Any, tmp_path: Path, log: LogLines, value: Any, text: str
) -> None:
    events.write_metrics(str(tmp_path), {"odd": value, "loss": 1.0}, 0, None)
    assert [v.tag for v in read(tmp_path)[0].summary.value] == ["loss"]
    assert log.having(text)


def test_numbers_are_read_back_by_step(graph: Any, tmp_path: Path) -> None:
    place = tmp_path / "odd [1]"
    for step, numbers in ((5, {"a": 1.0, "b": 2.0}), (3, {"a": 7.0, "text": "x"}), (5, {"a": 9.0})):
        events.write_metrics(str(place), {**numbers, "array": np.eye(2)}, step, "/m/model.ckpt-5")
    (written,) = place.iterdir()
    (place / "events.out.tfevents.9").write_bytes(b"garbage")
    (place / "other").write_bytes(written.read_bytes())
    assert list(events.read_metrics(str(place)).items()) == [(3, {"a": 7.0}), (5, {"a": 9.0, "b": 2.0})]
    assert events.read_metrics(str(tmp_path / "nowhere")) == {}


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def writing_threads() -> int:
    return sum(thread.name == "EventLoggerThread" for thread in threading.enumerate())


def used_and_dropped(model_dir: Path) -> None:
    made = tiny.estimator(model_dir).train(tiny.data, steps=1)
    made.evaluate(tiny.once)
    del made
    gc.collect()


def test_files_and_threads_of_estimators_that_are_gone_are_closed(tmp_path: Path) -> None:
    for name in ("first", "second", "third"):  # what other tests left open is closed meanwhile
        used_and_dropped(tmp_path / name)
        time.sleep(2)
    used_and_dropped(tmp_path / "fourth")
    files, threads = open_files(), writing_threads()
    for number in range(6):
        used_and_dropped(tmp_path / str(number))
    time.sleep(2)
    used_and_dropped(tmp_path / "last")
    assert (open_files() - files, writing_threads() - threads) == (0, 0)
    for number in range(6):
        (file,) = (tmp_path / str(number) / "eval").glob("events*")
        assert events.read_metrics(str(file.parent))[1]["mae"] > 0


def test_close_closes_the_event_files(tmp_path: Path) -> None:
    tiny.trained(tmp_path / "before")  # what is opened once in a process
    time.sleep(2)
    made = tiny.estimator(tmp_path / "own")
    files = open_files()
    made.train(tiny.data, steps=1)
    time.sleep(2)
    made.close()
    assert open_files() <= files
    made.train(tiny.data, steps=1)
    assert len(list((tmp_path / "own").glob("events*"))) == 2


def test_another_estimator_of_the_same_directory_goes_on_in_the_same_file(tmp_path: Path) -> None:
    for _ in range(2):
        used_and_dropped(tmp_path)
        time.sleep(2)
    assert len(list(tmp_path.glob("events*"))) == 1


def test_a_writer_that_a_hook_of_the_user_holds_stays_open(tmp_path: Path) -> None:
    own = v1.train.SummarySaverHook(save_steps=1, output_dir=str(tmp_path), scaffold=v1.train.Scaffold())
    tiny.estimator(tmp_path).train(tiny.data, steps=1, hooks=[own])
    gc.collect()
    time.sleep(2)
    tiny.trained(tmp_path / "another")
    tiny.estimator(tmp_path).train(tiny.data, steps=1, hooks=[own])
    assert len(list(tmp_path.glob("events*"))) == 1


def test_names_of_files_sort_by_age_within_a_second(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        for step in range(12):
            events.write_scalar(str(tmp_path), "loss", 0.0, step)
            v1.summary.FileWriterCache.clear()
    read_steps = [
        event.step
        for file in sorted(tmp_path.glob("events.*"))
        for event in v1.train.summary_iterator(str(file))
        if event.HasField("summary")
    ]
    assert read_steps == list(range(12))
