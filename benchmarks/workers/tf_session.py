"""TensorFlow's session by hand, without a framework: the floor under everything that is built on it.

`run` is `Session.run` each step, `callable` is `Session.make_callable`, `fused` is a `tf.while_loop` of 50 steps.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.workers import data
from benchmarks.workers.protocol import Measure, Plan, Worker, measured_steps, seconds_per_call
from benchmarks.workers.tf_session_big import register_big

worker = Worker(("tensorflow-cpu", "tensorflow", "numpy"))
tf1 = tf.compat.v1
STEPS_A_CALL = 50
tf1.disable_control_flow_v2()  # a loop of plain ops: the faster of TensorFlow's two in a session

register_big(worker)


class Network:
    """Weights made once, a forward pass that can be written again inside a loop, and Adam by hand."""

    def __init__(self) -> None:
        self.weights: list[Any] = []
        self._moments: list[tuple[Any, Any]] = []
        self._powers = [_variable("beta1_power", np.float32(0.9)), _variable("beta2_power", np.float32(0.999))]

    def logits(self, pixels: Any, is_training: bool) -> Any:
        """The forward pass."""
        raise NotImplementedError

    def train_op(self, pixels: Any, labels: Any) -> tuple[Any, Any]:
        """One step of Adam; the op and the loss."""
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=self.logits(pixels, True))
        loss = tf.reduce_mean(losses)
        gradients = tf.gradients(loss, self.weights)
        beta1, beta2 = (power.read_value() for power in self._powers)
        updates = [
            tf.raw_ops.ResourceApplyAdam(
                var=weight.handle,
                m=first.handle,
                v=second.handle,
                beta1_power=beta1,
                beta2_power=beta2,
                lr=1e-3,
                beta1=0.9,
                beta2=0.999,
                epsilon=1e-8,
                grad=gradient,
            )
            for weight, (first, second), gradient in zip(self.weights, self._moments, gradients, strict=True)
        ]
        with tf.control_dependencies(updates):
            powers = [self._powers[0].assign(beta1 * 0.9), self._powers[1].assign(beta2 * 0.999)]
        return tf.group(*updates, *powers), loss

    def add(self, *shape: int) -> tuple[Any, Any]:
        """A kernel and a bias."""
        scale = np.sqrt(2 / np.prod(shape[:-1]))
        kernel = np.random.default_rng(7).normal(0, scale, shape).astype(np.float32)
        pair = _variable("kernel", kernel), _variable("bias", np.zeros(shape[-1], np.float32))
        for weight in pair:
            zeros = np.zeros(weight.shape, np.float32)
            self.weights.append(weight)
            self._moments.append((_variable("m", zeros), _variable("v", zeros)))
        return pair


class Mlp(Network):
    """784-128-10."""

    def __init__(self) -> None:
        super().__init__()
        self._hidden, self._out = self.add(data.FEATURES, 128), self.add(128, data.CLASSES)

    def logits(self, pixels: Any, is_training: bool) -> Any:
        """The forward pass."""
        return _dense(tf.nn.relu(_dense(pixels, self._hidden)), self._out)


class Cnn(Network):
    """Two convolutions with pooling, a wide layer with dropout."""

    def __init__(self) -> None:
        super().__init__()
        self._convolutions = [self.add(5, 5, 1, 32), self.add(5, 5, 32, 64)]
        self._hidden, self._out = self.add(7 * 7 * 64, 1024), self.add(1024, data.CLASSES)

    def logits(self, pixels: Any, is_training: bool) -> Any:
        """The forward pass."""
        net = tf.reshape(pixels, [-1, 28, 28, 1])
        for kernel, bias in self._convolutions:
            net = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(net, kernel, 1, "SAME"), bias))
            net = tf.nn.max_pool2d(net, 2, 2, "VALID")
        net = tf.nn.relu(_dense(tf.reshape(net, [-1, 7 * 7 * 64]), self._hidden))
        return _dense(tf.nn.dropout(net, rate=0.4) if is_training else net, self._out)


def train(make: Callable[[], Network], multiple: int, plan: Plan) -> Measure:
    """Training, driven by hand."""
    pixels, labels = data.digits(data.TRAIN_ROWS)
    with tf.Graph().as_default():
        fed = [tf1.placeholder(array.dtype, array.shape) for array in (pixels, labels)]
        dataset = tf.data.Dataset.from_tensor_slices(tuple(fed)).repeat().shuffle(data.SHUFFLE)
        iterator = tf1.data.make_initializable_iterator(dataset.batch(data.BATCH).prefetch(2))
        network = make()
        fused = _fused(network, iterator) if plan.variant == "fused" else network.train_op(*iterator.get_next())
        session = tf1.Session()
        session.run(tf1.global_variables_initializer())
        session.run(iterator.initializer, dict(zip(fed, (pixels, labels), strict=True)))
    step = functools.partial(session.run, fused) if plan.variant == "run" else session.make_callable(list(fused))
    steps_a_call = STEPS_A_CALL if plan.variant == "fused" else 1
    for _ in range(max(1, multiple // steps_a_call)):
        step()

    def run(steps: int) -> float:
        calls = max(1, round(steps / steps_a_call))
        started = time.perf_counter()
        for _ in range(calls):
            step()
        return calls * steps_a_call / (time.perf_counter() - started)

    return measured_steps(run, plan, guess=multiple, multiple=multiple)


worker.piece("mlp", "run", "callable", "fused")(functools.partial(train, Mlp, 50))
worker.piece("mlp_jit", "fused")(functools.partial(train, Mlp, 50))
worker.piece("cnn", "run", "callable", "fused")(functools.partial(train, Cnn, 10))


def serving() -> tuple[Any, Any, Any]:
    """A session for prediction: itself, its placeholder, its outputs."""
    with tf.Graph().as_default():
        pixels = tf1.placeholder(tf.float32, [None, data.FEATURES])
        logits = Mlp().logits(pixels, False)
        outputs = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits)}
        session = tf1.Session()
        session.run(tf1.global_variables_initializer())
    return session, pixels, outputs


def predict_batches(batch: int, plan: Plan) -> Measure:
    """All rows, fed batch by batch."""
    rows = plan.scaled(data.PREDICT_ROWS, 500)
    array, (session, pixels, outputs) = data.digits(rows)[0], serving()

    def call() -> None:
        for part in data.slices(rows, batch):
            session.run(outputs, {pixels: array[part]})

    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


worker.piece("predict_batches", "run")(functools.partial(predict_batches, data.BATCH))
worker.piece("predict_batches_256", "run")(functools.partial(predict_batches, 256))


@worker.piece("predict_loop", "build")
def build_only(plan: Plan) -> Measure:
    """The graph of `predict()` of one row with an Estimator, built again and again, and never run."""
    row = data.digits(1)[0]

    def dense(values: Any, units: int, name: str) -> Any:
        with tf1.variable_scope(name):
            kernel = tf1.get_variable("kernel", [values.shape[1], units], initializer=tf1.glorot_uniform_initializer())
            bias = tf1.get_variable("bias", [units], initializer=tf1.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(values, kernel), bias)

    def call() -> None:
        with tf.Graph().as_default():
            batches = tf1.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices({"x": row}).batch(32))
            tf1.train.create_global_step()
            logits = dense(tf.nn.relu(dense(batches.get_next()["x"], 128, "dense")), data.CLASSES, "dense_1")
            tf.argmax(logits, axis=1)
            tf.nn.softmax(logits)

    call()
    return lambda: {"seconds": seconds_per_call(call, plan.seconds)}


@worker.piece("one_row", "run", "callable")
def one_row(plan: Plan) -> Measure:
    """One row, again and again."""
    row, (session, pixels, outputs) = data.digits(1)[0], serving()
    ready = session.make_callable(outputs, [pixels])

    def call() -> Any:
        return session.run(outputs, {pixels: row}) if plan.variant == "run" else ready(row)

    for _ in range(100):
        call()
    return lambda: {"seconds": seconds_per_call(call, plan.seconds)}


def _fused(network: Network, iterator: Any) -> tuple[Any]:
    def body(count: Any) -> Any:
        train_op, _ = network.train_op(*iterator.get_next())
        with tf.control_dependencies([train_op]):
            return count + 1

    return (tf.while_loop(lambda count: count < STEPS_A_CALL, body, [tf.constant(0)], parallel_iterations=1),)


def _dense(inputs: Any, pair: tuple[Any, Any]) -> Any:
    return tf.nn.bias_add(tf.matmul(inputs, pair[0]), pair[1])


def _variable(name: str, value: Any) -> Any:
    return tf1.Variable(value, name=name, use_resource=True)


if __name__ == "__main__":
    worker.serve()
