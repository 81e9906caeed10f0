"""The training that `benchmarks.scaling` measures: one task of it, in a process of its own.

Takes its arrangement as JSON in `argv[1]` and its role by `TF_CONFIG`; whoever measures writes a line for each mark:
seconds, global step, bytes that the loopback device has carried.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

INPUTS, CLASSES = 256, 10


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    hidden = features["x"]
    for _ in range(2):
        hidden = lw.layers.dense(hidden, params["units"], tf.nn.relu)
    logits = lw.layers.dense(hidden, CLASSES)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.compat.v1.train.AdamOptimizer(1e-4).minimize(loss, tf.compat.v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)


def strategy_of(kind: str, devices: int) -> Any:
    if kind == "together":
        return tf.distribute.MultiWorkerMirroredStrategy()
    if kind != "mirrored":
        return None
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * devices)
    return tf.distribute.MirroredStrategy([f"/cpu:{number}" for number in range(devices)])


class Marks:
    """What is noted every so many steps; the first mark waits until all who train have joined."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._asked = asked
        self._folder = pathlib.Path(asked["model_dir"])

    def note(self, step: Any) -> None:
        wanted = self._asked["workers"] if self._asked["kind"] == "ps" else 1
        while len(list(self._folder.glob("joined-*"))) < wanted - 1:
            time.sleep(0.05)
        with open("/proc/net/dev", encoding="utf-8") as lines:
            carried = next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))
        with open(self._asked["marks"], "a", encoding="utf-8") as file:
            file.write(json.dumps([time.monotonic(), int(step.global_step), carried]) + "\n")


def main(asked: dict[str, Any]) -> None:
    config = lw.RunConfig(
        asked["model_dir"],
        train_distribute=strategy_of(asked["kind"], asked["workers"]),
        tf_random_seed=1,
        save_summary_steps=None,
        log_step_count_steps=None,
        save_checkpoints_steps=10**9,
        experimental_max_worker_delay_secs=0,
        fuse_steps=asked["fuse_steps"],
        session_config=tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1),
    )
    draws = np.random.RandomState(config.task_id)
    x = draws.randn(4096, INPUTS).astype(np.float32)
    y = draws.randint(0, CLASSES, 4096)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat().batch(asked["batch"], drop_remainder=True)

    estimator = lw.Estimator(model_fn, config=config, params={"units": asked["units"]})
    if config.is_chief:
        hooks = [lw.Watch("global_step", every=asked["every"], do=Marks(asked).note)]
    else:
        joined = pathlib.Path(asked["model_dir"]) / f"joined-{config.task_id}"
        hooks = [lw.Watch("global_step", every=1, on="all", do=lambda step: joined.touch())]
        hooks = hooks if asked["kind"] == "ps" else []
    if config.cluster_spec.jobs:
        spec = lw.TrainSpec(input_fn, max_steps=asked["steps"], hooks=hooks)
        lw.train_and_evaluate(estimator, spec, lw.EvalSpec(input_fn, steps=1))
    else:
        estimator.train(input_fn, hooks, max_steps=asked["steps"])


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(json.loads(sys.argv[1]))
