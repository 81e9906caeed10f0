"""Old hooks reach features, labels, layers and anything with a path, in every verb."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
VERBS = pytest.mark.parametrize("verb", ["train", "evaluate", "predict"])
POINTS = ["begin", "after_create_session", "before_run", "after_run", "end"]


def model_fn(features: Mapping[str, Any], labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
    """A model that puts a feature and an output into collections, as programs do that want to see them in a hook."""
    v1.add_to_collection("my_features", features["x"])
    out = lw.layers.dense(features["x"][:, tf.newaxis], 1, name="my_predictions")
    v1.add_to_collection("my_outputs", out)
    v1.add_to_collection("my_weights", out.kernel)
    spec = tiny.linear(features, labels, mode, params)
    return spec if spec.loss is None else spec._replace(loss=spec.loss)


@pytest.fixture(scope="module")
def made(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("old"), model_fn=model_fn, params={})


def _run(made: lw.Estimator, verb: str, *hooks: Any) -> None:
    if verb == "train":
        made.train(tiny.data, steps=2, hooks=hooks)
    elif verb == "evaluate":
        made.evaluate(tiny.once, hooks=hooks)
    else:
        list(made.predict(tiny.once, hooks=hooks))


class Fetch(v1.train.SessionRunHook):
    """Fetches what a function of the context says, and keeps what comes."""

    def __init__(self, asked: Any) -> None:
        self.asked = asked
        self.seen: list[Any] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.asked(run_context) if callable(self.asked) else self.asked)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(run_values.results)


@VERBS
def test_a_collection_is_there_at_every_point_of_a_hooks_life(verb: str, made: lw.Estimator) -> None:
    seen: dict[str, int] = {}

    class Looks(v1.train.SessionRunHook):
        """Asks for the collection wherever it can."""

        def __getattribute__(self, name: str) -> Any:
            if name in POINTS:
                seen[name] = len(v1.get_collection("my_features"))
            return super().__getattribute__(name)

        def before_run(self, run_context: Any) -> None:
            assert v1.get_collection("my_features")

    _run(made, verb, Looks())
    assert seen == dict.fromkeys(POINTS, 1)


@VERBS
def test_values_of_collections(verb: str, made: lw.Estimator) -> None:
    hook = Fetch(lambda context: [v1.get_collection(name)[0] for name in ("my_features", "my_outputs", "my_weights")])
    _run(made, verb, hook)
    features, outputs, kernel = hook.seen[0]
    assert features.tolist() == [1, 2, 3, 4]
    assert outputs.shape == (4, 1)
    assert kernel.shape == (1, 1)


@VERBS
def test_the_context_shows_the_model(verb: str, made: lw.Estimator) -> None:
    def asked(context: Any) -> dict[str, Any]:
        assert context.mode == {"train": "train", "evaluate": "eval", "predict": "infer"}[verb]
        assert context.predictions is context.spec.predictions
        shown = {"x": context.features["x"], "out": context.layers["my_predictions"]}
        if verb == "predict":
            assert context.labels is None
            assert context.loss is None
            return shown
        assert context.loss is context.spec.loss
        return {**shown, "y": context.labels, "loss": context.loss}

    hook = Fetch(asked)
    _run(made, verb, hook)
    assert hook.seen[1]["x"].tolist() == [5, 6, 7, 8]
    if verb != "predict":
        assert hook.seen[1]["y"].tolist() == [10, 12, 14, 16]


def test_a_layer_that_is_not_there_is_answered_with_those_that_are(made: lw.Estimator) -> None:
    with pytest.raises(lw.errors.PathError, match=r"no layer 'my_prediction' in this model.*'my_predictions'"):
        _run(made, "train", Fetch(lambda context: context.layers["my_prediction"]))


class Pair(NamedTuple):
    """A structure a hook may fetch."""

    first: Any
    second: Any


@VERBS
def test_paths_anywhere_in_a_structure_of_fetches(verb: str, made: lw.Estimator) -> None:
    asked = {
        "one": "features/x",
        "list": ["layers/my_predictions", {"deep": ("tensors/my_predictions/BiasAdd:0", "my_predictions/BiasAdd:0")}],
        "pair": Pair("features/x", "my_predictions"),
        "glob": "weights/my_*",
        "both": "predictions",
    }
    hook = Fetch(asked)
    _run(made, verb, hook)
    seen = hook.seen[0]
    assert seen["one"].tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(seen["list"][0], seen["list"][1]["deep"][0])
    np.testing.assert_array_equal(seen["list"][0], seen["list"][1]["deep"][1])
    assert isinstance(seen["pair"], Pair)
    assert seen["pair"].second.shape == (4, 1)
    assert sorted(seen["glob"]) == ["weights/my_predictions/bias", "weights/my_predictions/kernel"]
    assert {"predictions/out"} <= set(seen["both"]) if verb == "predict" else seen["both"].shape == (4,)


def test_the_loss_is_no_summary_of_it(tmp_path: Path, log: Any) -> None:
    hook = Fetch(["loss", "loss:0"])
    logging = v1.train.LoggingTensorHook({"now": "loss"}, every_n_iter=1)
    tiny.estimator(tmp_path).train(tiny.data, steps=1, hooks=[hook, logging])
    loss, summary = hook.seen[0]
    assert loss == v1.Summary.FromString(summary).value[0].simple_value
    assert log.having(f"now = {loss}")


def test_a_weight_is_the_one_after_the_step(tmp_path: Path) -> None:
    hook = Fetch({"w": "weights/w", "step": "global_step"})
    watched: list[float] = []
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=20, hooks=[hook, lw.Watch("weights/w", every=1, do=lambda s: watched.append(s["w"]))])
    assert [float(seen["w"]) for seen in hook.seen] == watched
    assert [int(seen["step"]) for seen in hook.seen] == list(range(1, 21))
    assert watched[-1] == made.weights["w"]


def test_what_a_fetch_cannot_get_names_the_watch_that_can(made: lw.Estimator) -> None:
    with pytest.raises(
        lw.errors.HookError, match=r"Fetch.before_run: 'updates/weights/w' is known only.*Watch\('updates"
    ):
        _run(made, "train", Fetch("updates/weights/w"))
    with pytest.raises(lw.errors.HookError, match=r"'timing/step' is known only once the step is over"):
        _run(made, "evaluate", Fetch("timing/step"))
    with pytest.raises(lw.errors.HookError, match=r"LoggingTensorHook: 'metrics/mae' is known only once the step"):
        _run(made, "evaluate", v1.train.LoggingTensorHook(["metrics/mae"], every_n_iter=1))
    with pytest.raises(
        lw.errors.PathError, match=r"Fetch.before_run: 'gradients/weights/w' has to be built.*Watch\('grad"
    ):
        _run(made, "train", Fetch("gradients/weights/w"))


@VERBS
def test_hooks_of_tensorflow_take_paths(verb: str, made: lw.Estimator, log: Any) -> None:
    final = v1.train.FinalOpsHook(["weights/my_predictions/kernel", "global_step"])
    logging = v1.train.LoggingTensorHook({"x": "features/x", "again": "my_predictions/BiasAdd:0"}, every_n_iter=1)
    hooks = [logging, final] if verb == "train" else [logging]
    _run(made, verb, *hooks)
    assert log.having("x = [1. 2. 3. 4.]")
    if verb == "train":
        kernel, step = final.final_ops_values
        assert kernel.shape == (1, 1)
        assert step == made.get_variable_value("global_step")


def test_a_look_at_the_end_makes_no_step(tmp_path: Path, log: Any) -> None:
    logging = v1.train.LoggingTensorHook({"w": "weights/w", "step": "global_step"}, every_n_iter=1, at_end=True)
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=3, hooks=[logging])
    assert made.get_variable_value("global_step") == 3
    line = log.having("step = 3, w = ")[-1]
    assert float(line.partition("w = ")[2].split()[0]) == pytest.approx(float(made.weights["w"]), rel=1e-6)


def test_a_hook_of_tensorflow_can_be_used_again(tmp_path: Path, log: Any) -> None:
    hook = v1.train.LoggingTensorHook({"x": "features/x", "g": "gradients/weights/w"}, every_n_iter=1)
    for name in ("a", "b"):
        log.lines.clear()
        tiny.estimator(tmp_path / name).train(tiny.data, steps=1, hooks=[hook])
        assert log.having("x = [1. 2. 3. 4.]")


def test_a_name_that_a_hook_makes_itself_is_left_to_tensorflow(tmp_path: Path, log: Any) -> None:
    class Makes(v1.train.SessionRunHook):
        """Adds a tensor that another hook logs."""

        def begin(self) -> None:
            tf.constant(3.5, name="made_in_begin")

    logging = v1.train.LoggingTensorHook(["made_in_begin:0"], every_n_iter=1)
    tiny.estimator(tmp_path).train(tiny.data, steps=1, hooks=[Makes(), logging])
    assert log.having("made_in_begin:0 = 3.5")


def test_several_values_in_a_hook_of_tensorflow_are_refused(made: lw.Estimator) -> None:
    hook = v1.train.LoggingTensorHook(["weights/*"], every_n_iter=1)
    with pytest.raises(
        lw.errors.HookError, match=r"LoggingTensorHook: 'weights/\*' means several values.*Name one, or use"
    ):
        _run(made, "train", hook)


def test_summaries_by_path_and_by_name(tmp_path: Path) -> None:
    def with_summary(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        tf.identity(v1.summary.scalar("mean_x", tf.reduce_mean(features["x"])), name="my_summary")
        return tiny.linear(features, labels, mode, params)

    writer = v1.train.SummarySaverHook(save_steps=1, output_dir=str(tmp_path / "own"), summary_op="my_summary:0")
    tiny.estimator(tmp_path, with_summary, params={}).train(tiny.data, steps=2, hooks=[writer])
    (file,) = (tmp_path / "own").iterdir()
    values = [v.simple_value for event in v1.train.summary_iterator(str(file)) for v in event.summary.value]
    assert values == [2.5, 6.5]


def test_stopping_on_a_value_in_an_old_hook(tmp_path: Path) -> None:
    class StopsOnFeature(v1.train.SessionRunHook):
        """Stops when a feature is large: no global metric says that."""

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs("features/x")

        def after_run(self, run_context: Any, run_values: Any) -> None:
            if run_values.results.max() > 7:
                run_context.request_stop()

    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=100, hooks=[StopsOnFeature()])
    assert made.get_variable_value("global_step") == 2
