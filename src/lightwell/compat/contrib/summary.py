"""`tf.contrib.summary`: summaries that write when they run, to the writer that was open when they were created.

Host calls of TPU programs use them. In a graph, a writer is initialised with the tables, and `all_summary_ops` are what
a step must run; nothing is written unless `always_record_summaries` or its kin says so.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_OPERATIONS = "contrib_summary_operations"
_INITIALIZERS = "contrib_summary_initializers"
_numbers = itertools.count()


class _Open(threading.local):
    writer: SummaryWriter | None = None
    should_record: Any = False


_open = _Open()


class SummaryWriter:
    """Writes summaries to an events file.

    Args:
        logdir: the folder.
        max_queue: how many summaries wait at most.
        flush_millis: after how many milliseconds they are written.
        filename_suffix: end of the file's name.
    """

    def __init__(self, logdir: Any, max_queue: int, flush_millis: int, filename_suffix: str) -> None:
        # A name of its own: writers of two graphs share nothing.
        name = f"contrib_summary_{os.getpid()}_{next(_numbers)}"
        self._resource = tf.raw_ops.SummaryWriter(shared_name=name, container="")
        self._initializer = tf.raw_ops.CreateSummaryFileWriter(
            writer=self._resource,
            logdir=tf.convert_to_tensor(logdir),
            max_queue=tf.constant(max_queue),
            flush_millis=tf.constant(flush_millis),
            filename_suffix=tf.constant(filename_suffix),
        )
        if not tf.executing_eagerly():
            _v1.add_to_collection(_INITIALIZERS, self._initializer)
            # An Estimator initialises tables before its first step, and so the writer.
            _v1.add_to_collection(_v1.GraphKeys.TABLE_INITIALIZERS, self._initializer)

    @property
    def handle(self) -> Any:
        """The resource that operations write to."""
        return self._resource

    def init(self) -> Any:
        """The operation that opens the file."""
        return self._initializer

    def set_as_default(self) -> None:
        """Makes it the writer of the summaries that follow."""
        _open.writer = self

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Makes it the writer of the summaries in the `with` block."""
        before, _open.writer = _open.writer, self
        try:
            yield self
            flush(self)
        finally:
            _open.writer = before

    def flush(self) -> Any:
        """An operation that writes what waits."""
        return flush(self)

    def close(self) -> Any:
        """An operation that writes what waits and closes the file."""
        with tf.control_dependencies([op for op in [flush(self)] if op is not None]):
            return tf.raw_ops.CloseSummaryWriter(writer=self._resource)


class _NoWriter:
    """Stands for a writer where there is no folder: nothing is written."""

    def set_as_default(self) -> None:
        """Nothing is written from here on."""
        _open.writer = None

    @contextlib.contextmanager
    def as_default(self) -> Iterator[_NoWriter]:
        """Nothing is written in the `with` block."""
        before, _open.writer = _open.writer, None
        try:
            yield self
        finally:
            _open.writer = before


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> Any:
    """A writer of an events file; without a folder, one that writes nothing.

    with create_file_writer(folder, flush_millis=10000).as_default(), always_record_summaries():
        scalar("loss", loss, step=step)
    """
    if logdir is None:
        return _NoWriter()
    with tf.device("cpu:0"):
        return SummaryWriter(
            logdir,
            10 if max_queue is None else max_queue,
            2 * 60 * 1000 if flush_millis is None else flush_millis,
            ".v2" if filename_suffix is None else filename_suffix,
        )


def create_summary_file_writer(*args: Any, **kwargs: Any) -> Any:
    """`create_file_writer` by its older name."""
    return create_file_writer(*args, **kwargs)


def flush(writer: Any = None, name: str | None = None) -> Any:
    """An operation that writes what waits in a writer; None if there is none."""
    chosen = _open.writer if writer is None else writer
    return None if chosen is None else tf.raw_ops.FlushSummaryWriter(writer=chosen.handle)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Opens the files of the graph's writers, in a session; nothing to do when executing eagerly."""
    if tf.executing_eagerly() or _open.writer is None:
        return
    chosen = _v1.get_default_session() if session is None else session
    chosen.run(summary_writer_initializer_op())


def summary_writer_initializer_op() -> list[Any]:
    """The operations that open the files of the graph's writers."""
    return list(_v1.get_collection(_INITIALIZERS))


def all_summary_ops() -> list[Any] | None:
    """What a step must run for its summaries to be written; None when executing eagerly."""
    return None if tf.executing_eagerly() else list(_v1.get_collection(_OPERATIONS))


def should_record_summaries() -> Any:
    """Whether summaries are written: a bool or a scalar tensor."""
    return _open.should_record() if callable(_open.should_record) else _open.should_record


def always_record_summaries() -> Any:
    """In the `with` block, every summary is written."""
    return _recording(True)


def never_record_summaries() -> Any:
    """In the `with` block, no summary is written."""
    return _recording(False)


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """In the `with` block, summaries are written when the global step can be divided by `n`."""

    def due() -> Any:
        step = _v1.train.get_or_create_global_step() if global_step is None else global_step
        with tf.device("cpu:0"):
            return tf.equal(tf.cast(step, tf.int64) % n, 0)

    return _recording(due)


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number."""

    def write(tag: str, handle: Any, at: Any) -> Any:
        value = tf.convert_to_tensor(tensor)
        return tf.raw_ops.WriteScalarSummary(writer=handle, step=at, tag=tag, value=value)

    return _written(name, family, step, write)


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes the distribution of a tensor."""

    def write(tag: str, handle: Any, at: Any) -> Any:
        return tf.raw_ops.WriteHistogramSummary(writer=handle, step=at, tag=tag, values=tf.convert_to_tensor(tensor))

    return _written(name, family, step, write)


def image(
    name: str, tensor: Any, bad_color: Any = None, max_images: int = 3, family: str | None = None, step: Any = None
) -> Any:
    """Writes images `[batch, height, width, channels]`."""

    def write(tag: str, handle: Any, at: Any) -> Any:
        color = tf.constant([255, 0, 0, 255], tf.uint8) if bad_color is None else bad_color
        return tf.raw_ops.WriteImageSummary(
            writer=handle, step=at, tag=tag, tensor=tensor, bad_color=color, max_images=max_images
        )

    return _written(name, family, step, write)


def audio(
    name: str, tensor: Any, sample_rate: Any, max_outputs: int, family: str | None = None, step: Any = None
) -> Any:
    """Writes sounds `[batch, frames, channels]`."""

    def write(tag: str, handle: Any, at: Any) -> Any:
        rate = tf.cast(sample_rate, tf.float32)
        return tf.raw_ops.WriteAudioSummary(
            writer=handle, step=at, tag=tag, tensor=tensor, sample_rate=rate, max_outputs=max_outputs
        )

    return _written(name, family, step, write)


def generic(name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None) -> Any:
    """Writes a tensor as it is."""

    def write(tag: str, handle: Any, at: Any) -> Any:
        described = b"" if metadata is None else getattr(metadata, "SerializeToString", lambda: metadata)()
        return tf.raw_ops.WriteSummary(
            writer=handle, step=at, tensor=tf.convert_to_tensor(tensor), tag=tag, summary_metadata=described
        )

    return _written(name, family, step, write)


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """Where the events of an evaluation go."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


@contextlib.contextmanager
def _recording(condition: Any) -> Iterator[None]:
    before, _open.should_record = _open.should_record, condition
    try:
        yield
    finally:
        _open.should_record = before


def _written(name: str, family: str | None, step: Any, write: Callable[[str, Any, Any], Any]) -> Any:
    writer, wanted = _open.writer, should_record_summaries()
    if writer is None or wanted is False:
        return tf.no_op()
    tag = f"{family}/{_tag(f'{family}/{name}')}" if family else _tag(name)
    with tf.device("cpu:0"):
        at = tf.cast(_v1.train.get_or_create_global_step() if step is None else step, tf.int64)
        if wanted is True:
            operation = write(tag, writer.handle, at)
        else:
            operation = tf.cond(wanted, lambda: _as_tensor(write(tag, writer.handle, at)), lambda: tf.constant(False))
    if not tf.executing_eagerly():
        _v1.add_to_collection(_OPERATIONS, operation.op if hasattr(operation, "op") else operation)
    return operation


def _tag(name: str) -> str:
    """The name below the open name scopes, as summaries of TensorFlow 1 are called."""
    if tf.executing_eagerly():
        return name
    scope = _v1.get_default_graph().get_name_scope()
    return f"{scope}/{name}" if scope else name


def _as_tensor(operation: Any) -> Any:
    with tf.control_dependencies([operation] if operation is not None else []):
        return tf.constant(True)
