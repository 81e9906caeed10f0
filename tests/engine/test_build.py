"""Building a program: what is in the graph, in which order, and what a wrong `model_fn` is told."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.edits import edited, nodes, zeroed

import lightwell as lw
from lightwell.engine.build import Recipe, build
from lightwell.errors import InputFnError, ModelFnError
from lightwell.keys import ModeKeys

v1 = tf.compat.v1
TRAIN, EVAL, PREDICT = ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT


def made(
    model_fn: Callable[..., Any] = tiny.linear,
    mode: str = TRAIN,
    input_fn: Callable[..., Any] = tiny.once,
    params: Any = None,
    **config: Any,
) -> Any:
    return build(Recipe(model_fn, input_fn, mode, params or {}, lw.RunConfig(**config)))


def test_a_program_holds_handles_to_what_was_built() -> None:
    program = made()
    assert program.mode == TRAIN
    assert program.inputs.features["x"].graph is program.graph
    assert program.spec.loss.graph is program.graph
    assert program.global_step.op.name == "global_step"
    assert program.step_after.dtype == tf.int64
    assert not program.graph.finalized


def test_the_callers_own_graph_and_eager_mode_are_left_alone() -> None:
    with tf.Graph().as_default() as own:
        made()
        assert tf.compat.v1.get_default_graph() is own
        assert not own.get_operations()
    made()
    assert tf.executing_eagerly()


def test_the_step_counter_comes_first_then_the_input_then_the_model() -> None:
    names = [op.name for op in made().graph.get_operations()]
    first = {name: names.index(name) for name in ("global_step", "IteratorGetNext", "w")}
    assert first["global_step"] < first["IteratorGetNext"] < first["w"]


def test_the_seed_is_there_for_input_and_model() -> None:
    seen: list[Any] = []

    def input_fn() -> Any:
        seen.append(v1.get_default_graph().seed)
        return tiny.once()

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        seen.append(v1.get_default_graph().seed)
        return tiny.linear(features, labels, mode, {})

    made(model_fn, input_fn=input_fn, tf_random_seed=42)
    assert seen == [42, 42]


def test_the_input_is_on_the_cpu_and_the_model_where_device_fn_says() -> None:
    program = made(device_fn=lambda op: "/device:CPU:1" if op.type == "VarHandleOp" else op.device)
    assert program.inputs.features["x"].device.lower().endswith("cpu:0")
    assert program.graph.get_operation_by_name("w").device.lower().endswith("cpu:1")


@pytest.mark.parametrize(
    ("model_fn", "given"),
    [
        (lambda features, labels, mode, params, config: (labels is not None, mode, params, type(config)), "all"),
        (lambda features, labels, mode: (labels is not None, mode), "three"),
        (lambda features, labels, **rest: (labels is not None, sorted(rest)), "rest"),
        (functools.partial(lambda features, labels, params: (labels is not None, params), params="mine"), "partial"),
    ],
)
def test_model_fn_gets_what_it_asks_for(model_fn: Callable[..., Any], given: str) -> None:
    expected: dict[str, Any] = {
        "all": (True, TRAIN, {"a": 1}, lw.RunConfig),
        "three": (True, TRAIN),
        "rest": (True, ["config", "mode", "params"]),
        "partial": (True, "mine"),
    }
    seen: list[Any] = []

    @functools.wraps(model_fn)
    def spy(*args: Any, **kwargs: Any) -> None:
        seen.append(model_fn(*args, **kwargs))

    if isinstance(model_fn, functools.partial):
        spy = functools.partial(
            lambda features, labels, params: seen.append((labels is not None, params)), params="mine"
        )
    with pytest.raises(ModelFnError, match="should return an EstimatorSpec"):
        made(spy, params={"a": 1})
    assert seen == [expected[given]]


def test_training_declares_its_loss() -> None:
    program = made()
    assert program.graph.get_collection(v1.GraphKeys.LOSSES) == [program.spec.loss]
    assert [s.op.name for s in program.graph.get_collection(v1.GraphKeys.SUMMARIES)] == ["loss"]
    assert len(program.graph.get_collection(v1.GraphKeys.SAVERS)) == 1


def test_a_loss_summary_of_the_users_is_not_doubled() -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        v1.summary.scalar("loss", spec.loss)
        return spec

    assert len(made(model_fn).graph.get_collection(v1.GraphKeys.SUMMARIES)) == 1


def test_the_saver_follows_the_config_unless_the_user_brings_one() -> None:
    program = made(keep_checkpoint_max=3)
    (saver,) = program.graph.get_collection(v1.GraphKeys.SAVERS)
    with program.graph.as_default():
        saver.build()
    assert saver.saver_def.max_to_keep == 3

    def with_scaffold(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(scaffold=v1.train.Scaffold(saver=v1.train.Saver(max_to_keep=7)))

    program = made(with_scaffold)
    assert program.spec.scaffold.saver.saver_def.max_to_keep == 7

    def with_collection(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        v1.add_to_collection(v1.GraphKeys.SAVERS, v1.train.Saver(max_to_keep=9))
        return spec

    (own,) = made(with_collection).graph.get_collection(v1.GraphKeys.SAVERS)
    assert own.saver_def.max_to_keep == 9


def test_evaluation_has_metrics_and_prediction_has_neither() -> None:
    evaluation = made(mode=EVAL)
    assert set(evaluation.evaluation.values) == {"loss", "mae", "global_step"}
    prediction = made(mode=PREDICT)
    assert prediction.evaluation is None
    assert prediction.inputs.labels is None
    assert not prediction.graph.get_collection(v1.GraphKeys.SAVERS)


def test_the_calls_are_logged(log: LogLines) -> None:
    made()
    assert log.lines == ["INFO Calling model_fn.", "INFO Done calling model_fn."]


def test_iterators_that_the_model_or_input_left_are_initialised_with_it() -> None:
    def input_fn() -> Any:
        return v1.data.make_initializable_iterator(tiny.once()).get_next()

    assert [op.type for op in made(input_fn=input_fn).inputs.initializers] == ["MakeIterator"]


def test_an_object_that_knows_its_spec_will_do() -> None:
    class TPUSpec:
        def __init__(self, spec: Any) -> None:
            self.spec = spec

        def as_estimator_spec(self) -> Any:
            return self.spec

    program = made(lambda features, labels, mode: TPUSpec(tiny.linear(features, labels, mode, {})))
    assert isinstance(program.spec, lw.EstimatorSpec)


def test_warm_start_is_asked_for_in_the_finished_graph() -> None:
    seen: list[list[str]] = []

    def warm_start() -> None:
        seen.append([v.op.name for v in v1.trainable_variables()])

    build(Recipe(tiny.linear, tiny.once, TRAIN, {}, lw.RunConfig(), warm_start))
    assert seen == [["w", "b"]]


REFUSED: list[tuple[Any, type, str]] = [
    (
        lambda features, labels: None,
        ModelFnError,
        r"should return an EstimatorSpec in mode 'train', got NoneType.*return",
    ),
    (lambda features, labels: (1, 2), ModelFnError, r"should return an EstimatorSpec .* got tuple \(1, 2\)"),
    (
        lambda features: None,
        ModelFnError,
        "does not take labels, but input_fn returns labels. Add an argument `labels`",
    ),
]


@pytest.mark.parametrize(("model_fn", "error", "text"), REFUSED)
def test_a_wrong_model_fn_is_told_what_is_wrong(model_fn: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=f"model_fn '<lambda>' .*{text}"):
        made(model_fn)


def test_missing_labels_are_named_as_the_likely_cause() -> None:
    def only_features() -> Any:
        return tf.data.Dataset.from_tensor_slices({"x": tiny.X}).batch(4)

    text = (
        r"input_fn '.*only_features' gave no labels in mode 'train', and model_fn '.*linear' failed: \w+: .*"
        r"Return a \(features, labels\) pair from input_fn, or let model_fn do without labels"
    )
    with pytest.raises(InputFnError, match=text) as caught:
        made(input_fn=only_features)
    assert isinstance(caught.value.__cause__, TypeError | ValueError)


def test_an_error_of_the_models_own_goes_through() -> None:
    def fails(features: Any, labels: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        made(fails)


def test_features_are_changed_before_the_model_sees_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = next(iter(tiny.estimator(tmp_path).predict(tiny.once, taps=["features/x"])))
    assert plain == {"out": 1.0, "twice": 2.0, "features/x": 1.0}
    edited(monkeypatch, lambda passing: passing.value + 10.0 if passing.path == "features/x" else passing.value)
    changed = next(iter(tiny.estimator(tmp_path).predict(tiny.once, taps=["features/x"])))
    assert changed == {"out": 11.0, "twice": 22.0, "features/x": 11.0}


def test_features_that_are_one_tensor_are_changed_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(monkeypatch, zeroed("features"))
    made = tiny.estimator(tmp_path, lambda features, mode: lw.EstimatorSpec(mode, {"out": features + 1}))
    assert [row["out"] for row in made.predict(lambda: tf.data.Dataset.range(3).batch(3))] == [1, 1, 1]


def test_labels_are_changed_in_training_and_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(monkeypatch, zeroed("labels"))
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=3)
    assert made.get_variable_value("w") < 1.0, "towards zero, and not towards the labels' 2"
    result = made.evaluate(tiny.once)
    w, b = made.get_variable_value("w"), made.get_variable_value("b")
    assert result["mae"] == pytest.approx(abs(w * tiny.X + b).mean(), rel=1e-5)
    assert result["loss"] == pytest.approx(((w * tiny.X + b) ** 2).mean(), rel=1e-5)


def test_the_loss_of_an_evaluation_can_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tiny.trained(tmp_path)
    plain = made.evaluate(tiny.once)
    edited(monkeypatch, lambda passing: passing.value * 2.0 if passing.path == "loss" else passing.value)
    changed = tiny.estimator(tmp_path).evaluate(tiny.once)
    assert changed["loss"] == pytest.approx(2.0 * plain["loss"])
    assert changed["mae"] == plain["mae"]


@pytest.mark.parametrize("mode", [TRAIN, EVAL, PREDICT])
def test_edits_that_change_nothing_leave_the_graph_as_it_is(mode: str) -> None:
    recipe = Recipe(tiny.linear, tiny.once, mode, {}, lw.RunConfig())
    idle = dataclasses.replace(recipe, edits=[lambda passing: passing.value])
    assert nodes(build(idle)) == nodes(build(recipe))
