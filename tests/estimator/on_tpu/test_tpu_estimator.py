"""TPUEstimator on a CPU: the numbers and calls of tf.estimator 2.15.1, and what it says to those who want a TPU."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.on_tpu.scenes import SCENES, Program, rows
from tests.parity import recordings
from tests.run.hooks.conftest import Clock

import lightwell as lw
from lightwell.compat.v1 import estimator as api

v1 = tf.compat.v1
RECORDED = recordings.load_json("tpu")["scenes"]


def test_every_scene_is_recorded() -> None:
    assert list(SCENES) == list(RECORDED)


@pytest.mark.parametrize("name", SCENES)
def test_scene(name: str, tmp_path: Path) -> None:
    ours = json.loads(json.dumps(SCENES[name](api, tmp_path)))
    assert recordings.same(ours, RECORDED[name]), (ours, RECORDED[name])


def test_a_tpu_is_refused_by_the_first_verb_with_what_to_do(tmp_path: Path) -> None:
    program = Program(api)
    estimator = program.estimator(tmp_path, use_tpu=True)
    with pytest.raises(RuntimeError, match=r"Cannot find any TPU cores in the system.*Pass use_tpu=False"):
        estimator.train(program.input_fn, steps=1)
    with pytest.raises(ValueError, match="use_tpu=False"):
        estimator.evaluate(program.input_fn, steps=1)
    with pytest.raises(lw.errors.UsageError, match="use_tpu=False"):
        estimator.predict(program.input_fn)


def test_what_it_needs(tmp_path: Path) -> None:
    program = Program(api)
    with pytest.raises(ValueError, match=r"`config` must be provided with type `tpu_config.RunConfig`.*got None"):
        api.tpu.TPUEstimator(model_fn=program.model_fn, use_tpu=False)
    with pytest.raises(ValueError, match=r"\['batch_size', 'context'\] are reserved keys but existed in params"):
        program.estimator(tmp_path, params={"batch_size": 3})
    with pytest.raises(ValueError, match="`train_batch_size` cannot be `None`"):
        program.estimator(tmp_path, use_tpu=True, train_batch_size=None)
    with pytest.raises(ValueError, match="eval_batch_size must be positive, got 0"):
        program.estimator(tmp_path, eval_batch_size=0)
    with pytest.raises(ValueError, match="input_fn '<lambda>' does not include params argument, required by TPUEst"):
        program.estimator(tmp_path).train(lambda: rows({"batch_size": 2}), steps=1)

    def without_params(features: Any, labels: Any, mode: str) -> Any: ...

    config = api.tpu.RunConfig(model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="model_fn 'without_params' does not include params argument"):
        api.tpu.TPUEstimator(model_fn=without_params, config=config, use_tpu=False)
    with pytest.raises(ValueError, match="model_fn must be a function, got None"):
        api.tpu.TPUEstimator(config=config, use_tpu=False)


def test_params_that_cannot_take_a_batch_size_are_refused(tmp_path: Path) -> None:
    program = Program(api)
    with pytest.raises(ValueError, match=r"params must be a dict, or an object with attributes.*got list"):
        program.estimator(tmp_path, params=[1]).train(program.input_fn, steps=1)


def test_params_may_be_an_object(tmp_path: Path) -> None:
    class Settings:
        rate = 0.1

    seen = []

    def input_fn(params: Any) -> Any:
        return rows({"batch_size": params.batch_size})

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        seen.append((params.batch_size, params.rate, params.use_tpu))
        loss = tf.reduce_mean(features["x"]) * v1.get_variable("w", [], initializer=v1.ones_initializer())
        step = v1.train.get_global_step()
        return api.EstimatorSpec(mode, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.1).minimize(loss, step))

    settings, config = Settings(), api.tpu.RunConfig(model_dir=str(tmp_path))
    api.tpu.TPUEstimator(model_fn, config=config, params=settings, use_tpu=False, train_batch_size=4).train(
        input_fn, steps=1
    )
    assert seen == [(4, 0.1, False)]
    assert not hasattr(settings, "batch_size")


def test_cross_shard_optimizer_passes_gradients_on(tmp_path: Path) -> None:
    """In 2.15.1 it fails on a CPU: `CrossReplicaSum` has no kernel there."""

    def weights(wrap: Any, name: str) -> Any:
        def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
            logits = tf.matmul(features["x"], v1.get_variable("w", [4, 3], initializer=v1.ones_initializer()))
            loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
            optimizer = wrap(v1.train.GradientDescentOptimizer(0.1))
            return api.tpu.TPUEstimatorSpec(
                mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step())
            )

        config = api.tpu.RunConfig(model_dir=str(tmp_path / name))
        estimator = api.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=8)
        return estimator.train(rows, steps=5).get_variable_value("w")

    plain = weights(lambda optimizer: optimizer, "plain")
    np.testing.assert_array_equal(weights(v1.tpu.CrossShardOptimizer, "sharded"), plain)
    assert v1.tpu.cross_replica_sum.__name__ == "cross_replica_sum"  # only while model_fn runs


def test_examples_per_second_are_logged_and_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, clock, start = Program(api), Clock(), time.time()
    monkeypatch.setattr(time, "time", lambda: start + clock.ahead)
    config = api.tpu.RunConfig(model_dir=str(tmp_path), log_step_count_steps=5)
    estimator = api.tpu.TPUEstimator(program.model_fn, config=config, use_tpu=False, train_batch_size=8)
    with caplog.at_level(logging.INFO):
        estimator.train(program.input_fn, steps=20, hooks=[clock.each_step(0.5)])
    rates = {
        line.partition(": ")[0]: float(line.partition(": ")[2])
        for line in caplog.messages
        if line.startswith(("global_step/sec: ", "examples/sec: "))
    }
    assert rates == pytest.approx({"global_step/sec": 2.0, "examples/sec": 16.0}, rel=1e-4)
    (events,) = tmp_path.glob("events.out.*")
    tags = {value.tag for event in v1.train.summary_iterator(str(events)) for value in event.summary.value}
    assert {"examples/sec", "global_step/sec", "loss"} <= tags


def test_it_is_open_to_the_eye(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        hidden = lw.layers.dense(features["x"], 5, name="hidden")
        logits = lw.layers.dense(hidden, 3, name="logits")
        if mode == "infer":
            return api.tpu.TPUEstimatorSpec(mode, predictions={"logits": logits})
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = v1.train.AdamOptimizer().minimize(loss, v1.train.get_global_step())
        return api.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    config = api.tpu.RunConfig(model_dir=str(tmp_path))
    estimator = api.tpu.TPUEstimator(
        model_fn, config=config, use_tpu=False, train_batch_size=8, eval_batch_size=4, predict_batch_size=2
    )
    seen: list[Any] = []
    estimator.train(rows, steps=4, hooks=[lw.Watch("layers/hidden", every=2, do=seen.append)])
    assert [step["layers/hidden"].shape for step in seen] == [(8, 5)] * 2
    assert next(estimator.predict(rows, taps=["layers/hidden"]))["layers/hidden"].shape == (5,)
    assert "hidden" in str(estimator.describe(rows))
    assert estimator.layers["hidden"].kernel.shape == (4, 5)
    with estimator.predictor() as predictor:
        assert predictor({"x": np.ones((7, 4), np.float32)})["logits"].shape == (7, 3)
