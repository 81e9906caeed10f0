"""A model that is looked at many times is built once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.inside.edits import models
from tests.parity.replica_runs import strategy_of

import lightwell as lw
from lightwell.errors import UsageError

v1 = tf.compat.v1


def test_checkpoints_share_one_program(tmp_path: Path) -> None:
    calls = []

    def counting(features: Any, labels: Any, mode: str, params: Any) -> Any:
        calls.append(mode)
        return tiny.linear(features, labels, mode, params)

    def input_fn() -> Any:
        calls.append("input")
        return tiny.once()

    est = tiny.estimator(tmp_path, counting, params={}, save_checkpoints_steps=1)
    est.train(tiny.data, steps=3)
    calls.clear()
    found = est.over_checkpoints(input_fn, weights=["w"])
    assert sorted(calls) == ["eval", "input"]
    assert found.steps.tolist() == [0, 1, 2, 3]
    alone = [est.evaluate(tiny.once, checkpoint_path=one)["mae"] for one in found.checkpoints]
    assert found["mae"].tolist() == [float(one) for one in alone]
    assert found["mae"][0] > found["mae"][-1]


def test_state_is_fresh_in_each_evaluation(tmp_path: Path) -> None:
    """Random ops, local variables and metrics start over: all units give the same, as none has an effect."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        idle = lw.layers.dense(features["x"], 2, name="idle")
        logits = lw.layers.dense(features["x"], 4) + tf.random.normal([4], seed=1) + 0.0 * tf.reduce_sum(idle)
        spec = models.finished(logits, labels, mode)
        seen = v1.get_variable("seen", [], trainable=False, collections=[v1.GraphKeys.LOCAL_VARIABLES])
        count = v1.assign_add(seen, 1.0)
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, "seen": (seen.read_value(), count)})

    est = models.estimator(model_fn, tmp_path).train(models.data, steps=1)
    plain = est.evaluate(models.once)
    found = est.ablate(models.once, "layers/idle", "unit")
    for name, values in found.metrics.items():
        assert values.tolist() == [plain[name]] * 2 == [found.baseline[name]] * 2, name


REPLICAS: list[int] = []


def wide(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """A model of three units, each worth something else; `REPLICAS` is told how many replicas build it."""
    REPLICAS.append(tf.distribute.get_replica_context().num_replicas_in_sync)
    start = tf.constant_initializer([[0.1, 0.2, 0.3]])
    hidden = lw.layers.dense(features["x"][:, None], 3, name="hidden", kernel_initializer=start)
    out = tf.reduce_sum(hidden, axis=1)
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, {"out": out})
    loss = tf.reduce_mean(tf.square(out - labels))
    train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, v1.train.get_global_step())
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, out)}
    return lw.EstimatorSpec(mode, {"out": out}, loss, train_op, metrics)


def in_memory(made: lw.Estimator, folder: Path) -> Any:
    fresh = tiny.estimator(folder / "fresh", wide, **{name: getattr(made.config, name) for name in SETTINGS})
    hook = lw.estimator.experimental.InMemoryEvaluatorHook(fresh, batches)
    fresh.train(tiny.data, steps=2, hooks=[hook])
    return [hook.metrics["mae"]]


def batches() -> Any:
    """Eighty of them: enough to be compiled into one computation."""
    return tiny.data(repeat=40)


SETTINGS = ("eval_distribute", "jit_compile")
HELD = {
    "over_checkpoints": lambda made, folder: made.over_checkpoints(batches)["metrics/mae"],
    "ablate": lambda made, folder: made.ablate(batches, "layers/hidden").metrics["mae"],
    "InMemoryEvaluatorHook": in_memory,
}


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: Any) -> Path:
    folder: Path = tmp_path_factory.mktemp("wide")
    tiny.estimator(folder, wide, save_checkpoints_steps=2).train(tiny.data, steps=4)
    return folder


@pytest.mark.parametrize("verb", HELD)
def test_evaluations_that_are_held_run_on_all_replicas(verb: str, model_dir: Path, tmp_path: Path) -> None:
    expected = HELD[verb](tiny.estimator(model_dir, wide), tmp_path / "one")
    REPLICAS.clear()
    found = HELD[verb](tiny.estimator(model_dir, wide, eval_distribute=strategy_of(2)), tmp_path / "two")
    assert REPLICAS.count(2) == 2, "it is built for each of them"
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("verb", HELD)
def test_evaluations_that_are_held_are_compiled(verb: str, model_dir: Path, tmp_path: Path, log: LogLines) -> None:
    expected = HELD[verb](tiny.estimator(model_dir, wide), tmp_path / "one")
    log.lines.clear()
    made = tiny.estimator(model_dir, wide, jit_compile=True)
    np.testing.assert_allclose(HELD[verb](made, tmp_path / "two"), expected, rtol=1e-5)
    assert log.having("steps into one computation")


ROWS = {
    "capture": lambda made, to: np.asarray(made.capture(tiny.once, ["layers/hidden", "labels"], to)["labels"]),
    "compare": lambda made, to: made.compare(2, 4, tiny.once),
    "over_checkpoints(metrics=False)": lambda made, to: made.over_checkpoints(
        tiny.once, values="layers/hidden", metrics=False
    )["layers/hidden"],
}


@pytest.mark.parametrize("verb", ROWS)
def test_what_gives_rows_says_that_it_runs_on_one_device(
    verb: str, model_dir: Path, tmp_path: Path, log: LogLines
) -> None:
    ROWS[verb](tiny.estimator(model_dir, wide), tmp_path / "one")
    assert not log.having("one device")
    ROWS[verb](tiny.estimator(model_dir, wide, eval_distribute=strategy_of(2)), tmp_path / "two")
    (line,) = log.having("one device")
    assert line.startswith(
        f"WARNING {verb}: runs on one device. The 2 replicas of RunConfig.eval_distribute share eval"
    )


def test_a_capture_of_labels_is_compiled(model_dir: Path, tmp_path: Path) -> None:
    """A value of the input that the model itself does not read."""
    made = tiny.estimator(model_dir, wide, jit_compile=True)
    store = made.capture(lambda: tiny.data(repeat=200), ["layers/hidden", "labels"], tmp_path / "acts")
    np.testing.assert_array_equal(store["labels"][:8], tiny.Y)
    assert len(store) == 1600


def test_arguments_that_would_be_without_effect_are_refused(model_dir: Path, tmp_path: Path) -> None:
    made = tiny.estimator(model_dir, wide)
    with pytest.raises(UsageError, match="over_checkpoints: steps= are batches of data to look at; give an input_fn"):
        made.over_checkpoints(weights="*", steps=2)
    with pytest.raises(UsageError, match="capture: beyond='statistics' is what to do beyond a budget; give one"):
        made.capture(tiny.once, "labels", tmp_path, beyond="statistics")


def test_a_warm_start_that_is_left_aside_is_said(model_dir: Path, tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path, wide, warm_start_from=str(model_dir))
    made.train(tiny.data, steps=1)
    assert not log.having("left aside")
    made.train(tiny.data, steps=1)
    assert log.having("left aside") == [
        f"INFO train: warm_start_from is left aside: training goes on from {tmp_path}/model.ckpt-1."
    ]
