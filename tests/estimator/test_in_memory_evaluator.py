"""Evaluations inside a training: their numbers are those of `evaluate`, and the training is none the worse for it.

When they come, what they call and write is held by tests/parity/test_stopping.py.
"""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.run.engine.fused_runs import Calls
from tests.run.hooks.conftest import LosesSession

import lightwell as lw
from lightwell.run.events import read_metrics

v1 = tf.compat.v1
InMemory = lw.estimator.experimental.InMemoryEvaluatorHook


def network(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """Dropout in evaluation too, statistics of batches, Adam with its slots."""
    x = tf.expand_dims(features["x"], 1)
    hidden = lw.layers.dense(x, 8, activation=tf.nn.relu)
    hidden = lw.layers.batch_normalization(hidden, training=mode == "train")
    hidden = lw.layers.dropout(hidden, 0.5, training=params["dropout"], seed=params.get("seed"))
    out = tf.squeeze(lw.layers.dense(hidden, 1), 1)
    loss = tf.reduce_mean(tf.square(out - labels))
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, out), "auc": v1.metrics.auc(labels > 8, tf.sigmoid(out))}
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def averaged(features: Any, labels: Any, mode: str) -> Any:
    """Evaluates the moving averages of its weights, under a saver of its own."""
    w = v1.get_variable("w", [], initializer=v1.ones_initializer())
    loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
    averages = tf.train.ExponentialMovingAverage(0.5)
    step = v1.train.get_global_step()
    if mode == "train":
        with tf.control_dependencies([v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)]):
            return lw.EstimatorSpec(mode, loss=loss, train_op=averages.apply([w]))
    saver = v1.train.Saver({averages.average_name(w): w, "global_step": step})
    metrics = {"w": v1.metrics.mean(w)}
    return lw.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics, scaffold=v1.train.Scaffold(saver=saver))


def shuffled() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": tiny.X}, tiny.Y)).shuffle(8).batch(4)


EVALUATED: dict[str, tuple[Callable[..., Any], Any, Callable[[], Any]]] = {
    "linear": (tiny.linear, {}, tiny.once),
    "network": (network, {"dropout": False}, tiny.once),
    "random": (network, {"dropout": True, "seed": 3}, tiny.once),
    "shuffled": (network, {"dropout": False}, shuffled),
    "averaged": (averaged, None, tiny.once),
}


# Of single steps, those that draw random numbers stand for all: their numbers depend on most.
@pytest.mark.parametrize(
    ("fuse_steps", "name"),
    [
        pytest.param(fuse_steps, name, marks=[] if fuse_steps or name == "random" else [pytest.mark.slow])
        for fuse_steps in (False, "auto")
        for name in EVALUATED
    ],
)
def test_numbers_are_those_of_evaluate_at_the_same_step_to_the_last_bit(
    tmp_path: Path, name: str, fuse_steps: Any
) -> None:
    model_fn, params, input_fn = EVALUATED[name]
    settings = {"save_checkpoints_steps": 4, "keep_checkpoint_max": None, "fuse_steps": fuse_steps, "tf_random_seed": 7}
    est = tiny.estimator(tmp_path, model_fn, **settings, **({} if params is None else {"params": params}))
    hook = InMemory(est, input_fn, name="live", every_n_iter=4)
    est.train(tiny.data, steps=10, hooks=[hook])
    live = read_metrics(est.eval_dir("live"))
    assert list(live) == [0, 4, 8, 10]
    assert len({values["loss"] for values in live.values()}) == 4, "each of other weights"
    for step, values in live.items():
        of_checkpoint = est.evaluate(input_fn, checkpoint_path=f"{tmp_path}/model.ckpt-{step}")
        assert {**values, "global_step": step} == of_checkpoint
    assert hook.metrics == est.evaluate(input_fn)


def test_training_goes_on_as_without_it_and_steps_stay_fused(tmp_path: Path) -> None:
    quiet = {"save_checkpoints_steps": None, "log_step_count_steps": None, "save_summary_steps": None}
    ends = []
    for name in ("with", "without"):
        calls, saver = Calls(), v1.train.CheckpointSaverHook(str(tmp_path / name), save_steps=5000)
        est = tiny.estimator(tmp_path / name, network, params={"dropout": True}, tf_random_seed=3, **quiet)
        hooks = [InMemory(est, tiny.once, every_n_iter=500)] if name == "with" else []
        est.train(tiny.data, steps=1200, hooks=[*hooks, calls, saver])
        assert len(calls.steps) < 200
        ends.append({key: est.get_variable_value(key) for key in est.get_variable_names()})
    assert ends[0].keys() == ends[1].keys()
    # Whether numbers below 1e-37 are zero depends on the thread that runs a step.
    assert all(np.allclose(ends[0][key], ends[1][key], rtol=0, atol=1e-30) for key in ends[0])


def test_no_checkpoint_is_needed(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path, save_checkpoints_steps=None, save_checkpoints_secs=None)
    hook = InMemory(est, tiny.once, every_n_iter=2)
    est.train(tiny.data, steps=4, hooks=[hook])
    assert est.latest_checkpoint() is None
    assert hook.metrics["global_step"] == 4
    assert [values["loss"] for values in read_metrics(est.eval_dir()).values()] == sorted(
        (values["loss"] for values in read_metrics(est.eval_dir()).values()), reverse=True
    )


def test_a_variable_of_the_evaluation_alone_is_initialised(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        if mode != "eval":
            return spec
        own = v1.get_variable("own", [2], initializer=v1.constant_initializer(7.0))
        return spec._replace(eval_metric_ops={"own": v1.metrics.mean(own)})

    est = tiny.estimator(tmp_path, model_fn)
    hook = InMemory(est, tiny.once, every_n_iter=2)
    est.train(tiny.data, steps=3, hooks=[hook])
    assert hook.metrics["own"] == 7.0


def test_tables_arrays_watches_and_other_hooks_work_in_each_round(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [10, 20]), -1)
        spec = tiny.linear(features, labels, mode, {})
        found = table.lookup(tf.cast(features["x"], tf.int32))
        metrics = {"found": v1.metrics.mean(tf.cast(found, tf.float32))}
        return spec if mode != "eval" else spec._replace(eval_metric_ops=metrics)

    seen: list[Any] = []
    watch = lw.Watch("features/x", every=1, do=lambda step: seen.append(step["features/x"].sum()))
    log_hook = v1.train.LoggingTensorHook(["w/Read/ReadVariableOp"], every_n_iter=1)
    est = tiny.estimator(tmp_path, model_fn)
    hook = InMemory(est, tiny.once, hooks=[watch, log_hook], every_n_iter=2)
    est.train(tiny.data, steps=4, hooks=[hook])
    assert seen == [10.0, 26.0] * 4
    assert hook.metrics["found"] == pytest.approx((10 + 20 - 6) / 8)


def test_a_new_session_of_the_training_is_looked_at(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path, save_checkpoints_steps=1)
    hook = InMemory(est, tiny.once, every_n_iter=100)
    est.train(tiny.data, steps=5, hooks=[hook, LosesSession(at=3)])
    assert list(read_metrics(est.eval_dir())) == [0, 2, 5]
    assert hook.metrics == est.evaluate(tiny.once)


def test_two_of_them_by_name(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path)
    hooks = [InMemory(est, tiny.once, name=name, steps=steps) for name, steps in (("all", None), ("some", 1))]
    est.train(tiny.data, steps=2, hooks=hooks)
    assert hooks[0].metrics == est.evaluate(tiny.once)
    assert hooks[1].metrics == est.evaluate(tiny.once, steps=1)
    assert list(read_metrics(est.eval_dir("all"))) == list(read_metrics(est.eval_dir("some"))) == [0, 2]


def test_nothing_is_left_when_the_training_is_over_or_fails(tmp_path: Path) -> None:
    graphs: list[Any] = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        graphs.append(weakref.ref(v1.get_default_graph()))
        return tiny.linear(features, labels, mode, {})

    class Fails(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            raise ValueError("asked for")

    est = tiny.estimator(tmp_path, model_fn)
    hook = InMemory(est, tiny.once, every_n_iter=1)
    est.train(tiny.data, steps=3, hooks=[hook])
    with pytest.raises(ValueError, match="asked for"):
        est.train(tiny.data, steps=3, hooks=[hook, Fails()])
    est.close()
    gc.collect()
    assert [made() for made in graphs] == [None] * 4


def test_an_error_of_the_evaluation_is_that_of_evaluate(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path)
    with pytest.raises(ValueError, match=r"input_fn .*returned None|None"):
        est.train(tiny.data, steps=3, hooks=[InMemory(est, lambda: None)])
    assert est.latest_checkpoint() is None, "it was found before the first step"


def test_the_session_is_used_again(tmp_path: Path, log: LogLines) -> None:
    est = tiny.estimator(tmp_path)
    est.train(tiny.data, steps=8, hooks=[InMemory(est, tiny.once, every_n_iter=2)])
    opened = len(log.having("Done running local_init_op"))
    assert len(log.having("Starting evaluation")) == 6
    assert opened == 2, "one session of the training, one of the evaluation"


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"estimator": 3}, TypeError, r"`estimator` must have type `tf.estimator.Estimator`. Got: <class 'int'>"),
        ({"every_n_iter": 0}, ValueError, r"invalid every_n_iter=0\. Expected the number of training steps between"),
        ({"every_n_iter": None}, ValueError, "invalid every_n_iter=None"),
        ({"steps": -1}, ValueError, "Must specify steps > 0, given: -1"),
        ({"input_fn": None}, TypeError, "input_fn"),
        (
            {"hooks": [3]},
            TypeError,
            "InMemoryEvaluatorHook: hooks: 3 is not a hook.*must be a SessionRunHook, given: 3",
        ),
    ],
)
def test_arguments_are_checked_when_it_is_made(tmp_path: Path, arguments: Any, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text):
        InMemory(**{"estimator": tiny.estimator(tmp_path), "input_fn": tiny.once, **arguments})


def test_a_function_of_the_scaffold_that_sets_weights_is_refused(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(scaffold=v1.train.Scaffold(init_fn=lambda scaffold, session: None))

    est = tiny.estimator(tmp_path, model_fn)
    with pytest.raises(ValueError, match=r"InMemoryEvaluator does not support custom init_fn.*ModeKeys\.EVAL"):
        est.train(tiny.data, steps=1, hooks=[InMemory(est, tiny.once)])


@pytest.mark.parametrize("others", [{"ps": ["localhost:1"]}, {"worker": ["localhost:1", "localhost:2"]}])
def test_a_cluster_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: Any) -> None:
    cluster = {"cluster": {"chief": ["localhost:0"], **others}, "task": {"type": "chief", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    with pytest.raises(ValueError, match=r"InMemoryEvaluator supports only single machine.*train_and_evaluate"):
        InMemory(tiny.estimator(tmp_path), tiny.once)
