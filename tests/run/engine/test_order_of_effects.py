"""What a step reads and writes comes out as in single steps, whoever looks, and a look runs no part of the model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import children
from tests.faces import FUSED, SINGLE

import lightwell as lw

v1 = tf.compat.v1
X = np.arange(1, 13, dtype=np.float32).reshape(-1, 1)


def batches() -> Any:
    return tf.data.Dataset.from_tensor_slices((X, np.zeros_like(X))).batch(2).repeat()


def accumulating(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """Gradients of three batches are added up before a step of the weight; `total` is the sum of all."""
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    zero = {"initializer": v1.zeros_initializer(), "trainable": False}
    added, total = v1.get_variable("added", [], **zero), v1.get_variable("total", [], **zero)
    loss = tf.reduce_mean(features * weight)
    (gradient,) = tf.gradients(loss, weight)
    step = v1.train.get_global_step()

    def applied() -> Any:
        with tf.control_dependencies([weight.assign_sub(0.1 * added.read_value())]):
            emptied = added.assign(0.0)
        with tf.control_dependencies([emptied]):
            return tf.constant(True)

    with tf.control_dependencies([added.assign_add(gradient), total.assign_add(gradient)]):
        done = tf.cond(tf.equal(step % 3, 2), applied, lambda: tf.constant(False))
    with tf.control_dependencies([done]):
        return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(v1.assign_add(step, 1)))


HOOKS: dict[str, Callable[[str], Any]] = {
    "StopAtStepHook": lambda folder: v1.train.StopAtStepHook(last_step=100),
    "StepCounterHook": lambda folder: v1.train.StepCounterHook(every_n_steps=2, output_dir=folder),
    "CheckpointSaverHook": lambda folder: v1.train.CheckpointSaverHook(folder, save_steps=2),
    "Watch": lambda folder: lw.Watch("weights/*", "global_step", every=2, do=lambda step: None),
}


@pytest.mark.parametrize("face", [FUSED, SINGLE], ids=["fused", "single"])
@pytest.mark.parametrize("kind", HOOKS)
def test_a_look_at_the_step_does_not_train(kind: str, face: Any, tmp_path: Path) -> None:
    est = face.Estimator(accumulating, str(tmp_path), face.RunConfig(save_summary_steps=None))
    est.train(batches, steps=6, hooks=[HOOKS[kind](str(tmp_path))])
    found = {name: float(est.get_variable_value(name)) for name in ("weight", "added", "total")}
    assert found == {"weight": pytest.approx(-3.9), "added": 0.0, "total": 39.0}  # as 2.15.1


def reading_in_a_branch(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """A branch that the batch chooses reads the counter, beside the op that moves it: which is first is left open."""
    counter = v1.train.get_global_step()
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    total = v1.get_variable("total", [], tf.int64, v1.zeros_initializer(), trainable=False)
    some = tf.reduce_sum(features)
    read = tf.cond(some > 0, counter.read_value, lambda: tf.constant(0, tf.int64))
    with tf.control_dependencies([some]):
        moved = counter.assign_add(1)
    loss = tf.reduce_mean(features * weight)
    return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(moved, total.assign_add(read)))


@pytest.mark.parametrize("face", [FUSED, SINGLE], ids=["fused", "single"])
def test_a_read_inside_a_branch_comes_before_the_write_in_every_step(face: Any, tmp_path: Path) -> None:
    """TensorFlow puts the branch in the place of the call: an edge from the call alone orders nothing."""
    totals = set()
    for run in range(6):
        est = face.Estimator(reading_in_a_branch, str(tmp_path / str(run)))
        est.train(batches, steps=50)
        totals.add(int(est.get_variable_value("total")))
    assert totals == {sum(range(50))}


class ReadsByItself(v1.train.SessionRunHook):  # type: ignore[misc]
    """Reads tensors of the model outside of the steps."""

    def __init__(self, *names: str) -> None:
        self.names, self.seen = names, []

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(run_context.session.run(list(self.names)))


@pytest.mark.parametrize("beside", [[], [lambda: lw.Watch("learning_rate", every=2, do=lambda step: None)]])
def test_a_tensor_that_a_hook_runs_by_itself_moves_no_counter(beside: list[Any], tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        step = v1.train.get_global_step()
        rate = tf.identity(0.1 / (1.0 + tf.cast(step, tf.float32)), name="rate")  # nothing says whether before or after
        loss = tf.reduce_mean(tf.square(features * weight))
        optimizer = v1.train.GradientDescentOptimizer(rate)
        trained = optimizer.minimize(loss)
        return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(trained, step.assign(step + 1)))

    est = lw.Estimator(model_fn, str(tmp_path), lw.RunConfig(save_summary_steps=None))
    reads = ReadsByItself("rate:0")
    est.train(batches, steps=5, hooks=[reads, *(make() for make in beside)])
    assert len(reads.seen) == 5
    assert est.get_variable_value("global_step") == 5
    np.testing.assert_allclose(reads.seen, [[0.1 / (1 + step)] for step in range(1, 6)], rtol=1e-6)


LOOKING = """
import sys
import numpy as np
import tensorflow as tf
import lightwell as lw

v1 = tf.compat.v1
X = np.ones((12, 1), np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, X)).batch(2).repeat(3)


def model_fn(features, labels, mode):
    keep = v1.placeholder_with_default(0.5, [], name="keep")
    big = tf.constant(np.arange(2000, dtype=np.float32), name="big")
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features * weight * keep - X[:2])) + 0 * tf.reduce_sum(big)
    optimizer = v1.train.GradientDescentOptimizer(v1.placeholder_with_default(0.25, [], name="rate"))
    return lw.EstimatorSpec(
        mode,
        loss=loss,
        predictions={"keep": keep, "x": features},
        train_op=optimizer.minimize(loss, v1.train.get_global_step()),
    )


def look():
    return [v1.train.LoggingTensorHook({"k": "keep:0", "b": "big:0", "r": "rate:0"}, every_n_iter=4)]


est = lw.Estimator(model_fn, sys.argv[1], lw.RunConfig(save_summary_steps=None, jit_compile=sys.argv[2] == "compiled"))
rates = []
watch = lw.Watch("learning_rate", "tensors/big:0", every=5, do=lambda step: rates.append(float(step["learning_rate"])))
est.train(input_fn, steps=12, hooks=[*look(), watch])
est.evaluate(input_fn, hooks=look())
rows = list(est.predict(input_fn, predict_keys=["x"], hooks=look()))
print(rates, len(rows), float(est.get_variable_value("weight")))
"""


@pytest.mark.parametrize("how", ["plain", "compiled"])
def test_a_value_that_is_the_same_in_every_step_can_be_looked_at(how: str, tmp_path: Path) -> None:
    # In a process of its own: where this is broken, it never comes back.
    command = [sys.executable, "-c", LOOKING, str(tmp_path), how]
    found = subprocess.run(
        command, env=children.environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stderr[-2000:]
    rates, rows, weight = found.stdout.strip().rpartition("] ")[0] + "]", *found.stdout.split()[-2:]
    assert rates == "[0.25, 0.25]"
    assert int(rows) == 36
    assert float(weight) == pytest.approx(2 * (1 - 0.875**12), rel=1e-5)
