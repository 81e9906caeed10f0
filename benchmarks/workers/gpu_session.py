"""TensorFlow's session by hand on a GPU: the networks of the GPU rows in one graph, a callable called for each step."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf

from benchmarks.workers import data
from benchmarks.workers.big_models import gpu_models
from benchmarks.workers.protocol import Measure, Plan, Worker, first_step_of, measure_turns, tensorflow_device_mb

tf1 = tf.compat.v1
Dense = Callable[..., Any]
Batches = Callable[[Any, int], tuple[Any, dict[Any, Any]]]


def register(worker: Worker, dense: Dense, batches_of: Batches) -> None:
    """Registers the rows of a worker that has a dense layer with a name, and an iterator over shuffled batches."""
    for key in ("mlp", "cnn", "wide", "lstm", "bert", "dlrm"):
        worker.row(f"gpu_{key}", "callable")(partial(_train, f"gpu_{key}", dense, batches_of))
    for key in ("mlp", "bert"):
        worker.row(f"gpu_{key}_start", "callable")(partial(_start, f"gpu_{key}", dense, batches_of))


def _train(key: str, dense: Dense, batches_of: Batches, plan: Plan) -> Measure:
    call = _step(key, dense, batches_of, plan.is_quick, _arrays(key, plan.is_quick))

    def run(steps: int) -> float:
        started = time.perf_counter()
        for _ in range(steps):
            call()
        return steps / (time.perf_counter() - started)

    run(plan.scaled(10, 2))
    return measure_turns(run, plan, guess=plan.scaled(20, 2), device_mb=lambda: tensorflow_device_mb(tf))


def _start(key: str, dense: Dense, batches_of: Batches, plan: Plan) -> Measure:
    arrays = _arrays(key, plan.is_quick)
    return first_step_of(lambda: _step(key, dense, batches_of, plan.is_quick, arrays), lambda: tensorflow_device_mb(tf))


def _arrays(key: str, is_quick: bool) -> tuple[Any, int]:
    """The data and the size of a batch."""
    if key in gpu_models(is_quick):
        big = gpu_models(is_quick)[key]
        return big.arrays(), big.batch
    network = data.gpu_network(key, is_quick)
    return data.network_data(network), network.batch


def _step(key: str, dense: Dense, batches_of: Batches, is_quick: bool, arrays: tuple[Any, int]) -> Callable[[], Any]:
    """Builds the graph, opens a session, and returns what takes a step."""
    with tf.Graph().as_default():
        iterator, feeds = batches_of(*arrays)
        values, labels = iterator.get_next()
        if key in gpu_models(is_quick):
            big = gpu_models(is_quick)[key]
            loss, optimizer = big.loss(tf, dense, values, labels), big.optimizer(tf)
        else:
            logits = _logits(key, data.gpu_network(key, is_quick), dense, values)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            optimizer = tf1.train.AdamOptimizer(1e-3)
        fetches = [optimizer.minimize(loss), loss]
        session = tf1.Session(config=tf1.ConfigProto(allow_soft_placement=True))
        session.run(tf1.global_variables_initializer())
        session.run(iterator.initializer, feeds)
    return session.make_callable(fetches)


def _logits(key: str, network: data.Network, dense: Dense, net: Any) -> Any:
    if key == "gpu_lstm":
        return dense(_last_output(net, *network.hidden), data.CLASSES, name="logits")
    if key == "gpu_cnn":
        net = tf.reshape(net, [-1, 28, 28, 1])
        for inputs, filters in ((1, 32), (32, 64)):
            kernel = tf1.get_variable(f"kernel_{filters}", [5, 5, inputs, filters], use_resource=True)
            bias = tf1.get_variable(f"bias_{filters}", [filters], use_resource=True)
            net = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(net, kernel, 1, "SAME"), bias))
            net = tf.nn.max_pool2d(net, 2, 2, "VALID")
        net = tf.reshape(net, [-1, 7 * 7 * 64])
    for number, units in enumerate(network.hidden):
        net = dense(net, units, tf.nn.relu, f"hidden_{number}")
    return dense(tf.nn.dropout(net, rate=0.4) if key == "gpu_cnn" else net, data.CLASSES, name="logits")


def _last_output(values: Any, units: int) -> Any:
    """The last output of an LSTM: by cuDNN, or unrolled where there is no GPU."""
    steps, features = values.shape[1:]
    batch = tf.shape(values)[0]
    if tf.config.list_physical_devices("GPU"):
        count = 4 * units * (features + units + 2)
        weights = tf1.get_variable("cell", initializer=tf.random.uniform([count], -0.06, 0.06), use_resource=True)
        zeros = tf.zeros([1, batch, units])
        outputs, *_ = tf.raw_ops.CudnnRNN(
            input=tf.transpose(values, [1, 0, 2]), input_h=zeros, input_c=zeros, params=weights, rnn_mode="lstm"
        )
        return tf.reshape(outputs[-1], [-1, units])
    kernel = tf1.get_variable("cell", [features + units, 4 * units], use_resource=True)
    hidden = cell = tf.zeros([batch, units])
    for step in range(steps):
        i, f, g, o = tf.split(tf.concat([values[:, step], hidden], axis=1) @ kernel, 4, axis=1)
        cell = tf.sigmoid(f) * cell + tf.sigmoid(i) * tf.tanh(g)
        hidden = tf.sigmoid(o) * tf.tanh(cell)
    return hidden
