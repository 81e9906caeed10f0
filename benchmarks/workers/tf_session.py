"""TensorFlow's session by hand, without a framework: the floor under everything that is built on it.

`run` is `Session.run` each step, `callable` is `Session.make_callable`, `fused` is a `tf.while_loop` of 50 steps.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf

from benchmarks.workers import data, gpu_session, protocol
from benchmarks.workers.big_models import TOUCHED_MB, big_models
from benchmarks.workers.protocol import Figures, Measure, Plan, Worker

worker = Worker(("tensorflow-cpu", "tensorflow", "numpy"))
tf1 = tf.compat.v1
STEPS_A_CALL = 50
tf1.disable_control_flow_v2()  # a loop of plain ops: the faster of TensorFlow's two in a session


def variables(name: str, *shape: Any) -> tuple[Any, Any]:
    with tf1.variable_scope(name, reuse=tf1.AUTO_REUSE, use_resource=True):
        kernel = tf1.get_variable("kernel", shape, initializer=tf1.glorot_uniform_initializer())
        return kernel, tf1.get_variable("bias", shape[-1:], initializer=tf1.zeros_initializer())


def dense(inputs: Any, units: int, activation: Any = None, name: str = "dense") -> Any:
    kernel, bias = variables(name, inputs.shape[-1], units)
    outputs = tf.nn.bias_add(tf.matmul(inputs, kernel), bias)
    return outputs if activation is None else activation(outputs)


def mlp(pixels: Any, is_training: bool) -> Any:
    return dense(dense(pixels, 128, tf.nn.relu, "hidden"), data.CLASSES, name="logits")


def cnn(pixels: Any, is_training: bool) -> Any:
    net = tf.reshape(pixels, [-1, 28, 28, 1])
    for inputs, outputs in ((1, 32), (32, 64)):
        kernel, bias = variables(f"convolution_{outputs}", 5, 5, inputs, outputs)
        net = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(net, kernel, 1, "SAME"), bias))
        net = tf.nn.max_pool2d(net, 2, 2, "VALID")
    net = dense(tf.reshape(net, [-1, 7 * 7 * 64]), 1024, tf.nn.relu, "hidden")
    return dense(tf.nn.dropout(net, rate=0.4) if is_training else net, data.CLASSES, name="logits")


def batches_of(arrays: Any, batch: int) -> tuple[Any, dict[Any, Any]]:
    """An iterator over shuffled batches, and what its initializer is fed."""
    placeholders = tf.nest.map_structure(lambda array: tf1.placeholder(array.dtype, array.shape), arrays)
    dataset = tf.data.Dataset.from_tensor_slices(placeholders).repeat().shuffle(data.SHUFFLE)
    iterator = tf1.data.make_initializable_iterator(dataset.batch(batch).prefetch(2))
    return iterator, dict(zip(tf.nest.flatten(placeholders), tf.nest.flatten(arrays), strict=True))


def train(forward: Callable[[Any, bool], Any], multiple: int, plan: Plan) -> Measure:
    is_fused = plan.variant == "fused"
    with tf.Graph().as_default():
        iterator, feeds = batches_of(data.digits(data.TRAIN_ROWS), data.BATCH)
        optimizer = tf1.train.AdamOptimizer(1e-3)

        def step_ops() -> list[Any]:
            pixels, labels = iterator.get_next()
            logits = forward(pixels, True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            return [optimizer.minimize(loss), loss]

        def body(count: Any) -> Any:
            with tf.control_dependencies(step_ops()[:1]):
                return count + 1

        fetches = step_ops()  # a loop reads and writes the variables that this makes
        if is_fused:
            fetches = [tf.while_loop(lambda count: count < STEPS_A_CALL, body, [tf.constant(0)], parallel_iterations=1)]
        session = tf1.Session(config=tf1.ConfigProto(allow_soft_placement=True))
        session.run(tf1.global_variables_initializer())
        session.run(iterator.initializer, feeds)
    call = partial(session.run, fetches) if plan.variant == "run" else session.make_callable(fetches)
    return protocol.measure_loop(call, plan, multiple=multiple, steps_a_call=STEPS_A_CALL if is_fused else 1)


worker.row("mlp", "run", "callable", "fused")(partial(train, mlp, 50))
worker.row("mlp_jit", "fused")(partial(train, mlp, 50))
worker.row("cnn", "run", "callable", "fused")(partial(train, cnn, 10))
gpu_session.register(worker, dense, batches_of)


def serving(is_callable: bool) -> Callable[[Any], Any]:
    with tf.Graph().as_default():
        pixels = tf1.placeholder(tf.float32, [None, data.FEATURES])
        logits = mlp(pixels, False)
        outputs = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits)}
        session = tf1.Session()
        session.run(tf1.global_variables_initializer())
    return (
        session.make_callable(outputs, [pixels]) if is_callable else lambda rows: session.run(outputs, {pixels: rows})
    )


data.register_predictions(worker, {"run": partial(serving, False), "callable": partial(serving, True)})
for _variant, _is_callable in (("run", False), ("callable", True)):
    worker.row("gpu_one_row", _variant)(partial(data.one_row, partial(serving, _is_callable)))


@worker.row("predict_loop", "build")
def build_only(plan: Plan) -> Measure:
    """The graph of `predict()` of one row with an Estimator, built again and again, and never run."""
    row = data.digits(1)[0]

    def call() -> None:
        with tf.Graph().as_default():
            batches = tf1.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices({"x": row}).batch(32))
            tf1.train.create_global_step()
            logits = mlp(batches.get_next()["x"], False)
            tf.argmax(logits, axis=1)
            tf.nn.softmax(logits)

    return protocol.measure_calls(call, plan)


def train_big(name: str, plan: Plan) -> Measure:
    """A big model: the same graph as the Estimators', a checkpoint before the first step and after the last."""
    big = big_models(plan.is_quick)[name]
    arrays = big.arrays()
    protocol.touch_memory(plan.scaled(TOUCHED_MB, 1))

    def measure() -> Figures:
        peak_mb, times = protocol.peak_memory(), [time.perf_counter()]
        with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
            iterator, feeds = batches_of(arrays, big.batch)
            loss = big.loss(tf, dense, *iterator.get_next())
            global_step = tf1.train.create_global_step()
            train_op = big.optimizer(tf).minimize(loss, global_step=global_step)
            saver, prefix = tf1.train.Saver(), os.path.join(folder, "model.ckpt")
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                session.run(iterator.initializer, feeds)
                saver.save(session, prefix, global_step)
                for steps in (1, big.warm - 1, big.steps):
                    for _ in range(steps):
                        session.run([train_op, loss])
                    times.append(time.perf_counter())
                saver.save(session, prefix, global_step)
        rate = big.steps / (times[3] - times[2])
        return {"per_second": rate, "seconds": times[1] - times[0], "megabytes": peak_mb()}

    return measure


for _name in big_models(is_quick=True):
    for _what in ("", "_start", "_memory"):
        worker.row(f"big_{_name}{_what}", "run")(partial(train_big, _name))

if __name__ == "__main__":
    worker.serve()
