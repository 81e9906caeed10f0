"""The big models in a session by hand: the same graph, a checkpoint before the first step and after the last."""

from __future__ import annotations

import functools
import os
import tempfile
import time
from typing import Any

import tensorflow as tf

from benchmarks.workers import data
from benchmarks.workers.big_models import TOUCHED_MB, big_models
from benchmarks.workers.protocol import Measure, Plan, Worker, touched_memory, watched_memory

tf1 = tf.compat.v1


def register_big(worker: Worker) -> None:
    """Adds the rows of each model."""
    for name in big_models(is_quick=True):
        worker.piece(f"big_{name}", "run")(functools.partial(_training, name))
        worker.piece(f"big_{name}_start", "run")(functools.partial(_training, name))
        worker.piece(f"big_{name}_memory", "run")(functools.partial(_training, name))


def _training(name: str, plan: Plan) -> Measure:
    big = big_models(plan.is_quick)[name]
    arrays = big.arrays()
    touched_memory(plan.scaled(TOUCHED_MB, 1))

    def measure() -> dict[str, Any]:
        memory_mb, started = watched_memory(), time.perf_counter()
        with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
            fed = tf.nest.map_structure(lambda array: tf1.placeholder(array.dtype, array.shape), arrays)
            dataset = tf.data.Dataset.from_tensor_slices(fed).repeat().shuffle(data.SHUFFLE)
            iterator = tf1.data.make_initializable_iterator(dataset.batch(big.batch).prefetch(2))
            loss = big.loss(tf, _dense, *iterator.get_next())
            step = tf1.train.create_global_step()
            train_op = big.optimizer(tf).minimize(loss, global_step=step)
            saver = tf1.train.Saver()
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                feeds = zip(tf.nest.flatten(fed), tf.nest.flatten(arrays), strict=True)
                session.run(iterator.initializer, dict(feeds))
                saver.save(session, os.path.join(folder, "model.ckpt"), step)
                session.run([train_op, loss])
                first = time.perf_counter()
                for _ in range(big.warm - 1):
                    session.run([train_op, loss])
                warm = time.perf_counter()
                for _ in range(big.steps):
                    session.run([train_op, loss])
                ended = time.perf_counter()
                saver.save(session, os.path.join(folder, "model.ckpt"), step)
        return {"per_second": big.steps / (ended - warm), "seconds": first - started, "megabytes": memory_mb()}

    return measure


def _dense(inputs: Any, units: int, activation: Any = None, name: str = "dense") -> Any:
    with tf1.variable_scope(name):
        width = inputs.shape[-1]
        kernel = tf1.get_variable("kernel", [width, units], initializer=tf1.glorot_uniform_initializer())
        bias = tf1.get_variable("bias", [units], initializer=tf1.zeros_initializer())
        outputs = tf.nn.bias_add(tf.matmul(inputs, kernel), bias)
        return outputs if activation is None else activation(outputs)
