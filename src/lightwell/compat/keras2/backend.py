"""Functions of `tf.keras.backend` that Keras 3 dropped."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras
from lightwell.model.interop.trace import active_trace
from lightwell.run.engine.side_session import session_of

_v1 = tf.compat.v1


class _Phase(threading.local):
    """The learning phase that the program set; None where it set none."""

    value: Any = None


_phase = _Phase()


def learning_phase() -> Any:
    """1 while a `model_fn` builds the training of a model, else 0; or what the program set."""
    if _phase.value is not None:
        return _phase.value
    trace = active_trace()
    return int(trace is not None and trace.is_training)


def set_learning_phase(value: Any) -> None:
    """Set what `learning_phase` returns. Layers of a `model_fn` follow its mode, or their argument `training`."""
    _phase.value = value


@contextlib.contextmanager
def learning_phase_scope(value: Any) -> Iterator[None]:
    """Set the learning phase inside the block."""
    before = _phase.value
    _phase.value = value
    try:
        yield
    finally:
        _phase.value = before


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` in training and `alt` otherwise; either may be a function that returns it."""
    training = learning_phase() if training is None else training
    if tf.is_tensor(training):
        return tf.cond(tf.cast(training, tf.bool), _function_of(x), _function_of(alt))
    return _function_of(x)() if training in (1, True) else _function_of(alt)()


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`alt` in training and `x` otherwise."""
    return in_train_phase(alt, x, training=training)


def _function_of(value: Any) -> Callable[[], Any]:
    return value if callable(value) else lambda: value


def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
    **_: Any,
) -> Any:
    """A placeholder of the graph; outside of a graph, an input of a functional model."""
    if shape is None and ndim is not None:
        shape = (None,) * ndim
    dtype = dtype or tf.keras.backend.floatx()
    if tf.executing_eagerly():
        return tf.keras.Input(batch_shape=shape, dtype=dtype, sparse=sparse, name=name)
    make = _v1.sparse_placeholder if sparse else _v1.placeholder
    return make(dtype, shape=shape, name=name)


def function(inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **_: Any) -> Any:
    """A function from arrays for `inputs` to arrays of `outputs`, which are Keras tensors or tensors of a graph."""
    del name
    keras = private_keras.keras3()
    is_list = isinstance(outputs, list | tuple)
    flat = [outputs] if not is_list else list(outputs)
    if any(isinstance(one, keras.KerasTensor) for one in flat):
        known = [one for one in inputs if isinstance(one, keras.KerasTensor)]
        model = keras.Function(known, flat)

        def compute(values: Sequence[Any]) -> Any:
            fed = [value for place, value in zip(inputs, values, strict=True) if isinstance(place, keras.KerasTensor)]
            results = [keras.ops.convert_to_numpy(one) for one in model(fed)]
            return results if is_list else results[0]

        return compute

    def run(values: Sequence[Any]) -> Any:
        with tf.control_dependencies(flat):
            last = tf.group(*tf.nest.flatten(updates or []))
        results, _ = get_session().run([flat, last], dict(zip(inputs, values, strict=True)))
        return results if is_list else results[0]

    return run


class _Sessions(threading.local):
    """The session that the program set, or that `get_session` made, with its graph."""

    session: Any = None


_sessions = _Sessions()


def get_session(op_input_list: Any = ()) -> Any:
    """The default session, or the one that was set; else a new one of the default graph, its variables initialised."""
    del op_input_list
    current = _v1.get_default_session()
    if current is not None:
        return current
    graph = _v1.get_default_graph()
    if _sessions.session is None or (_sessions.session.graph is not graph):
        _sessions.session = session_of(graph)
    with graph.as_default():
        for variable in _v1.global_variables():
            if not _sessions.session.run(_v1.is_variable_initialized(variable)):
                _sessions.session.run(variable.initializer)
    return _sessions.session


def set_session(session: Any) -> None:
    """Set what `get_session` returns. An Estimator opens its own sessions."""
    _sessions.session = session


def manual_variable_initialization(value: bool) -> None:
    """Does nothing: who runs the graph initialises its variables."""


def reset_uids() -> None:
    """Restart the numbers in the names of layers."""
    tf.keras.backend.clear_session(free_memory=False)


def print_tensor(x: Any, message: str = "", summarize: int = 3) -> Any:
    """`x`, printed on standard error whenever it is computed."""
    printed = tf.print(message, x, summarize=summarize)
    with tf.control_dependencies([] if printed is None else [printed]):
        return tf.identity(x)


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Ones with probability `p`, else zeros."""
    dtype = dtype or tf.keras.backend.floatx()
    draws = _v1.random_uniform(shape, dtype=dtype, seed=seed)
    return tf.where(draws <= p, tf.ones(shape, dtype), tf.zeros(shape, dtype))


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """The batch normalised by its own mean and variance over the axes, and these two."""
    mean, variance = tf.nn.moments(x, list(reduction_axes), keepdims=True)
    shape = tf.shape(mean)
    scale = None if gamma is None else tf.reshape(gamma, shape)
    offset = None if beta is None else tf.reshape(beta, shape)
    normal = tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon)
    return normal, tf.squeeze(mean, list(reduction_axes)), tf.squeeze(variance, list(reduction_axes))


def local_conv1d(
    inputs: Any, kernel: Any, kernel_size: Sequence[int], strides: Sequence[int], data_format: str | None = None
) -> Any:
    """A convolution over time with a kernel of its own for each output step: `[steps, size * channels, filters]`."""
    if data_format == "channels_first":
        return tf.transpose(local_conv1d(tf.transpose(inputs, [0, 2, 1]), kernel, kernel_size, strides), [0, 2, 1])
    (size,), (stride,), steps = kernel_size, strides, tf.convert_to_tensor(kernel).shape[0]
    windows = [inputs[:, step * stride : step * stride + size, :] for step in range(steps)]
    flat = [tf.reshape(window, [tf.shape(inputs)[0], -1]) for window in windows]
    return tf.einsum("bsk,skf->bsf", tf.stack(flat, axis=1), kernel)


def local_conv2d(
    inputs: Any,
    kernel: Any,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Any:
    """A convolution with a kernel of its own for each output pixel: `[rows * columns, window * channels, filters]`."""
    if data_format == "channels_first":
        moved = tf.transpose(inputs, [0, 2, 3, 1])
        return tf.transpose(local_conv2d(moved, kernel, kernel_size, strides, output_shape), [0, 3, 1, 2])
    rows, columns = output_shape
    windows = [
        inputs[
            :,
            row * strides[0] : row * strides[0] + kernel_size[0],
            column * strides[1] : column * strides[1] + kernel_size[1],
            :,
        ]
        for row in range(rows)
        for column in range(columns)
    ]
    flat = [tf.reshape(window, [tf.shape(inputs)[0], -1]) for window in windows]
    outputs = tf.einsum("bsk,skf->bsf", tf.stack(flat, axis=1), kernel)
    return tf.reshape(outputs, [-1, rows, columns, tf.shape(outputs)[-1]])
