"""Writes TensorBoard's event files (graphs, scalars, session marks), and reads the numbers of evaluations back.

Takes a directory and plain values. Writers come from TensorFlow's cache, so that a hook of the user and Lightwell
append to one file. A writer is a thread and an open file: those of a model directory are closed once no Estimator uses
the directory.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP
from lightwell.base.log import logger
from lightwell.base.safe_files import token
from lightwell.errors import ModelDirError, disk_error, reason_of
from lightwell.foreign import private_tf

_SessionLog = tf.compat.v1.SessionLog
_EVENT_FILE = "events.out.tfevents."
# TensorFlow names an event file by the second of its creation, and would overwrite one of the same name.
_SECONDS_OF_A_NAME = 2.0


def writer(directory: str) -> Any:
    """The event writer of a directory; one per directory and process.

    Raises:
        ModelDirError: the directory cannot be written.
    """
    with _writing(directory) as to:
        return to


def open_early(directory: str) -> None:
    """Opens the event file before there is something to write; leaves a disk error to the first write.

    In a training that is the first checkpoint, whose error says what is lost.
    """
    with contextlib.suppress(ModelDirError):
        writer(directory)


def write_graph(directory: str, graph: tf.Graph) -> None:
    """Writes a graph, with shapes, and its meta graph, where this process has written nothing yet.

    A new writer begins with the current graph; an existing one has its graph already, so that evaluations of a long
    training do not write theirs again and again.
    """
    with graph.as_default():
        writer(directory)


def write_plain_graph(directory: str, graph_def: Any, meta_graph: Any) -> None:
    """Writes a graph and its meta graph."""
    with _writing(directory) as to:
        to.add_event(tf.compat.v1.Event(graph_def=graph_def.SerializeToString()))
        to.add_meta_graph(meta_graph)


def mark_start(directory: str, step: int) -> None:
    """Marks that a run begins at `step`: TensorBoard drops what an earlier, longer run wrote beyond it."""
    with _writing(directory) as to:
        to.add_session_log(_SessionLog(status=_SessionLog.START), step)


def mark_checkpoint(directory: str, prefix: str, step: int) -> None:
    """Marks that a checkpoint was written."""
    log = _SessionLog(status=_SessionLog.CHECKPOINT, checkpoint_path=prefix)
    with _writing(directory) as to:
        to.add_session_log(log, step)


def write_scalar(directory: str, tag: str, value: float, step: int) -> None:
    """Writes one number."""
    value_proto = tf.compat.v1.Summary.Value(tag=tag, simple_value=value)
    write_summary(directory, tf.compat.v1.Summary(value=[value_proto]), step)


def write_summary(directory: str, summary: Any, step: int) -> None:
    """Writes a summary, as a message or serialized."""
    with _writing(directory) as to:
        to.add_summary(summary, step)


def flush(directory: str) -> None:
    """Waits until all that was written is on disk."""
    with _writing(directory) as to:
        to.flush()


def write_metrics(directory: str, values: Mapping[str, Any], step: int, checkpoint: str | None) -> None:
    """Writes an evaluation's result: a number per metric, and the checkpoint it belongs to."""
    summary = tf.compat.v1.Summary()
    for tag, value in sorted(values.items()):
        if tag != GLOBAL_STEP:
            _add_value(summary, tag, value)
    with _writing(directory) as to:
        to.add_summary(summary, step)
        if checkpoint:
            to.add_summary(_text("checkpoint_path", checkpoint), step)
        to.flush()


@contextlib.contextmanager
def _writing(directory: str) -> Iterator[Any]:
    """The writer of a directory; its errors become a `ModelDirError`.

    Raises:
        ModelDirError: events cannot be written.
    """
    try:
        # TensorFlow names a file by the second; the nanoseconds let files of one second sort by their age.
        to = private_tf.event_writer(directory, f".{time.time_ns():019d}.{token()}")
    except (tf.errors.OpError, OSError, RuntimeError) as error:  # RuntimeError: a full disk, to TensorFlow's writer
        raise _unwritable(directory, error) from error
    _writers.used(directory, to)
    try:
        yield to
    except Exception as error:  # from the writing thread, which raises errors of many classes
        private_tf.forget_event_writer(directory)
        raise _unwritable(directory, error) from error


class _Writers:
    """The event writers that Lightwell has opened in this process, and their users."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[weakref.ref[Any], float]] = {}  # by directory, with the time of the last use
        self._users: Counter[str] = Counter()  # by model directory
        self._gone: deque[str] = deque()  # model directories, once for each user that is gone

    def used(self, directory: str, writer: Any) -> None:
        self._open[directory] = (weakref.ref(writer), time.monotonic())

    def keep_open(self, directory: str, user: Any) -> Any:
        with self._lock:
            self._users[directory] += 1
        # Python's collector may run in any thread, that of a writer included: it must not take the lock.
        release = weakref.finalize(user, self._gone.append, directory)
        release.atexit = False
        return release

    def close_unused(self) -> None:
        with self._lock:
            while self._gone:
                self._users[self._gone.popleft()] -= 1
            unused = [directory for directory, users in self._users.items() if users <= 0]
            for directory in unused:
                if self._close_below(directory):
                    del self._users[directory]

    def _close_below(self, directory: str) -> bool:
        """Closes the writers of a model directory; False if one was in use until just now."""
        below = directory.rstrip("/") + "/"
        for path, (writer_ref, used_at) in list(self._open.items()):
            if path != directory and not path.startswith(below):
                continue
            if time.monotonic() - used_at < _SECONDS_OF_A_NAME:
                return False
            del self._open[path]
            writer = writer_ref()
            # Only TensorFlow's cache and this name refer to it; a writer that a hook of the user also uses stays open.
            if writer is not None and sys.getrefcount(writer) <= _CACHED_REFERENCES:
                private_tf.forget_event_writer(path)
                with contextlib.suppress(Exception):  # whoever wrote has raised the error of a full disk
                    writer.close()
        return True


class _Value:
    """Something that can be referred to weakly."""


def _references_to_cached_value() -> int:
    """How many references this Python counts to a value in a cache and one local name; releases differ in it."""
    cache = {"": _Value()}
    value = weakref.ref(cache[""])()
    return sys.getrefcount(value)


_CACHED_REFERENCES = _references_to_cached_value()
_writers = _Writers()  # one for the process, as there is one cache of TensorFlow's


def keep_open(directory: str, user: Any) -> Any:
    """Keeps the writers of a model directory open as long as `user` lives; call the result to release them earlier."""
    return _writers.keep_open(directory, user)


def close_unused() -> None:
    """Closes the writers of model directories that have no users."""
    _writers.close_unused()


def _unwritable(directory: str, error: BaseException) -> ModelDirError:
    return disk_error(
        error,
        f"Events for TensorBoard cannot be written to {directory}: {reason_of(error)}. Free space or mend the rights "
        "of the directory.",
    )


def read_metrics(directory: str) -> OrderedDict[int, dict[str, float]]:
    """The numbers in the event files of a directory, as `metrics_in` returns them; empty if it does not exist."""
    return metrics_in(_event_files(directory))


def metrics_in(files: Iterable[str]) -> OrderedDict[int, dict[str, float]]:
    """The numbers in event files: step to tag to value, by step, the last written where one repeats.

    A file that is cut short counts as far as it can be read.
    """
    metrics: dict[int, dict[str, float]] = {}
    for path in sorted(files):
        with contextlib.suppress(tf.errors.DataLossError):
            for event in tf.compat.v1.train.summary_iterator(path):
                numbers = {value.tag: value.simple_value for value in event.summary.value if _is_number(value)}
                if numbers:
                    metrics.setdefault(event.step, {}).update(numbers)
    return OrderedDict(sorted(metrics.items()))


class MetricsReader:
    """Reads the numbers of a directory again and again, but its files only once they have grown."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._sizes: dict[str, int] | None = None
        self._read: OrderedDict[int, dict[str, float]] = OrderedDict()

    def read(self) -> OrderedDict[int, dict[str, float]]:
        """The current result of `read_metrics`."""
        sizes = {path: tf.io.gfile.stat(path).length for path in _event_files(self.directory)}
        if sizes != self._sizes:
            self._sizes, self._read = sizes, read_metrics(self.directory)
        return self._read


def _event_files(directory: str) -> list[str]:
    names = tf.io.gfile.listdir(directory) if tf.io.gfile.isdir(directory) else []
    # No glob: the path itself may hold brackets or stars.
    return [os.path.join(directory, name) for name in sorted(names) if name.startswith(_EVENT_FILE)]


def _is_number(value: Any) -> bool:
    return bool(value.HasField("simple_value"))


def _add_value(summary: Any, tag: str, value: Any) -> None:
    if isinstance(value, bytes):
        try:
            parsed = tf.compat.v1.Summary.FromString(value)
        except Exception:  # protobuf's DecodeError has no public door in TensorFlow
            logger.warning("Skipping summary for %s, cannot parse string to Summary.", tag)
            return
        for index, part in enumerate(parsed.value):
            part.tag = f"{tag}/{index}"
        summary.value.extend(parsed.value)
    elif isinstance(value, np.ndarray) and value.ndim:
        summary.value.add(tag=tag, tensor=tf.make_tensor_proto(value))
    elif isinstance(value, int | float | np.floating | np.integer | np.ndarray) and not isinstance(value, bool):
        summary.value.add(tag=tag, simple_value=float(value))
    else:
        logger.warning("Skipping summary for %s, must be a number or an array of numbers, got %r.", tag, type(value))


def _text(tag: str, text: str) -> Any:
    metadata = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="text"))
    value = tf.compat.v1.Summary.Value(tag=tag, metadata=metadata, tensor=tf.make_tensor_proto(text, dtype=tf.string))
    return tf.compat.v1.Summary(value=[value])
