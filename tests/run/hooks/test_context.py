"""What a hook can see of the model behind a step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
NAMES = "mode features labels spec predictions loss layers global_step count batch loss_value"


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    hidden = lw.layers.dense(features["x"][:, None], 2, name="hidden")
    spec = tiny.linear(features, labels, mode, {})
    return spec._replace(predictions={"out": tf.reduce_sum(hidden, axis=1)})


class Sees(v1.train.SessionRunHook):
    """Notes what the context shows before and after a step."""

    def __init__(self) -> None:
        self.before: list[dict[str, Any]] = []
        self.after: list[dict[str, Any]] = []

    def before_run(self, run_context: Any) -> Any:
        assert isinstance(run_context, v1.train.SessionRunContext)
        self.before.append({name: getattr(run_context, name) for name in NAMES.split()})
        shown = [run_context.features, run_context.labels, run_context.predictions, run_context.loss]
        return v1.train.SessionRunArgs([one for one in shown if one is not None])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.after.append({name: getattr(run_context, name) for name in NAMES.split()})
        self.after[-1]["weight"] = run_context.fetch({"w": "w/Read/ReadVariableOp:0"})["w"]
        self.results = run_values.results
        if run_context.batch == 3:
            assert not run_context.stop_requested
            run_context.request_stop()
            assert run_context.stop_requested


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> tuple[lw.Estimator, Sees]:
    hook = Sees()
    made = tiny.estimator(tmp_path_factory.mktemp("trained"), model_fn)
    made.train(tiny.data, steps=2)
    made.train(tiny.data, steps=100, hooks=[hook])
    return made, hook


def test_a_training_shows_the_model_and_where_it_is(trained: tuple[lw.Estimator, Sees]) -> None:
    made, hook = trained
    first = hook.before[0]
    assert first["mode"] == "train"
    assert list(first["features"]) == ["x"]
    assert tf.is_tensor(first["labels"])
    assert isinstance(first["spec"], lw.EstimatorSpec)
    assert first["loss"] is first["spec"].loss
    assert first["predictions"] is first["spec"].predictions
    assert list(first["layers"]) == ["hidden"]
    assert [seen["global_step"] for seen in hook.before] == [2, 3, 4]
    assert [seen["global_step"] for seen in hook.after] == [3, 4, 5]
    assert [seen["batch"] for seen in hook.after] == [1, 2, 3]
    assert [seen["loss_value"] for seen in hook.before] == [None] * 3
    assert hook.after[-1]["loss_value"] == hook.results[-1]
    assert hook.after[-1]["weight"] == made.get_variable_value("w"), "after the step"


def test_a_stop_can_be_asked_for(trained: tuple[lw.Estimator, Sees]) -> None:
    assert trained[0].get_variable_value("global_step") == 5


@pytest.mark.parametrize("verb", ["evaluate", "predict"])
def test_elsewhere_batches_are_counted(trained: tuple[lw.Estimator, Sees], verb: str) -> None:
    hook = Sees()
    done = getattr(trained[0], verb)(tiny.data, hooks=[hook])
    if verb == "predict":
        assert len(list(done)) == 12, "a stop after three batches of four"
    assert [seen["mode"] for seen in hook.after] == ["eval" if verb == "evaluate" else "infer"] * 3
    assert [seen["count"] for seen in hook.before] == [0, 1, 2]
    assert [seen["count"] for seen in hook.after] == [seen["batch"] for seen in hook.after] == [1, 2, 3]
    assert [seen["global_step"] for seen in hook.after] == [None] * 3
    assert (hook.after[0]["labels"] is None) == (verb == "predict")


def test_tensors_and_paths_may_be_mixed(tmp_path: Path) -> None:
    class Mixes(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs([run_context.layers["hidden"], "layers/hidden"])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            np.testing.assert_array_equal(*run_values.results)
            self.shape = run_values.results[0].shape

    hook = Mixes()
    tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=1, hooks=[hook])
    assert hook.shape == (4, 2)
