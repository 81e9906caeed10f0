"""Building a model: what stands in its graph, in which order, and what a wrong `model_fn` is told."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1
TRAIN, EVAL, PREDICT = lw.ModeKeys.TRAIN, lw.ModeKeys.EVAL, lw.ModeKeys.PREDICT


def linear(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    return tiny.linear(features, labels, mode, {})


def built(model_fn: Callable[..., Any] = linear, input_fn: Any = tiny.once, mode: str = TRAIN, **config: Any) -> Any:
    """The graph of a model that is only described: what every verb builds, and nothing of a run."""
    graphs: list[Any] = []

    def spied(features: Any, labels: Any, mode: str) -> Any:
        graphs.append(v1.get_default_graph())
        return model_fn(features, labels, mode)

    lw.Estimator(spied, "unused", lw.RunConfig(**config)).describe(input_fn, mode)
    return graphs[0]


def test_the_callers_own_graph_and_eager_mode_are_left_alone() -> None:
    with tf.Graph().as_default() as own:
        built()
        assert v1.get_default_graph() is own
        assert not own.get_operations()
    built()
    assert tf.executing_eagerly()


def test_the_step_counter_comes_first_then_the_input_then_the_model() -> None:
    """Seeds of random ops depend on it."""
    names = [op.name for op in built().get_operations()]
    first = {name: names.index(name) for name in ("global_step", "IteratorGetNext", "w")}
    assert first["global_step"] < first["IteratorGetNext"] < first["w"]


def test_the_seed_is_there_for_input_and_model() -> None:
    seen: list[Any] = []

    def input_fn() -> Any:
        seen.append(v1.get_default_graph().seed)
        return tiny.once()

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        seen.append(v1.get_default_graph().seed)
        return linear(features, labels, mode)

    built(model_fn, input_fn, tf_random_seed=42)
    assert seen == [42, 42]


def test_the_input_is_on_the_cpu_and_the_model_where_device_fn_says() -> None:
    devices: list[str] = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = linear(features, labels, mode)
        devices.extend([features["x"].device, v1.trainable_variables()[0].device])
        return spec

    built(model_fn, device_fn=lambda op: "/device:CPU:1" if op.type == "VarHandleOp" else op.device)
    assert [device.lower()[-5:] for device in devices] == ["cpu:0", "cpu:1"]


MODEL_FNS: dict[str, tuple[Any, Any]] = {
    "all": (
        lambda features, labels, mode, params, config: (labels is not None, mode, params, type(config)),
        (True, TRAIN, {"a": 1}, lw.RunConfig),
    ),
    "three": (lambda features, labels, mode: (labels is not None, mode), (True, TRAIN)),
    "the rest": (lambda features, labels, **rest: (labels is not None, sorted(rest)), (True, "config mode params")),
    "partial": (
        functools.partial(lambda features, labels, params: (labels is not None, params), params="mine"),
        (True, "mine"),
    ),
}


@pytest.mark.parametrize("kind", MODEL_FNS)
def test_model_fn_gets_what_it_asks_for(kind: str, tmp_path: Path) -> None:
    """A `model_fn` that returns what it was given: the refusal quotes it."""
    model_fn, given = MODEL_FNS[kind]
    params = {"a": 1} if kind in ("all", "the rest") else None
    with pytest.raises(
        lw.errors.ModelFnError, match="in mode 'train': model_fn should return an EstimatorSpec, got tuple"
    ) as e:
        lw.Estimator(model_fn, str(tmp_path), params=params).train(tiny.once)
    expected = (True, given[1].split()) if kind == "the rest" else given
    assert repr(expected) in str(e.value)


def test_prediction_has_no_labels() -> None:
    seen: list[Any] = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        seen.append(labels)
        return linear(features, labels, mode)

    built(model_fn, mode=PREDICT)
    assert seen == [None]


def test_training_declares_its_loss() -> None:
    losses: list[Any] = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = linear(features, labels, mode)
        losses.append(spec.loss)
        return spec

    graph = built(model_fn)
    assert graph.get_collection(v1.GraphKeys.LOSSES) == losses
    assert [summary.op.name for summary in graph.get_collection(v1.GraphKeys.SUMMARIES)] == ["loss"]


def test_a_loss_summary_of_the_users_is_not_doubled() -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = linear(features, labels, mode)
        v1.summary.scalar("loss", spec.loss)
        return spec

    assert len(built(model_fn).get_collection(v1.GraphKeys.SUMMARIES)) == 1


def _own_saver(features: Any, labels: Any, mode: str) -> Any:
    spec = linear(features, labels, mode)
    v1.add_to_collection(v1.GraphKeys.SAVERS, v1.train.Saver(max_to_keep=2, save_relative_paths=True))
    return spec


@pytest.mark.parametrize(("model_fn", "kept"), [(linear, 3), (_own_saver, 2)], ids=["config", "collection"])
def test_the_saver_follows_the_config_unless_the_user_brings_one(tmp_path: Path, model_fn: Any, kept: int) -> None:
    made = tiny.estimator(tmp_path, model_fn, keep_checkpoint_max=3, save_checkpoints_steps=1)
    made.train(tiny.data, steps=5)
    assert len(list(tmp_path.glob("*.index"))) == kept


def test_the_calls_are_logged(log: LogLines) -> None:
    built()
    assert log.lines[-2:] == ["INFO Calling model_fn.", "INFO Done calling model_fn."]


def test_an_object_that_knows_its_spec_will_do(tmp_path: Path) -> None:
    class TPUSpec:
        def __init__(self, spec: Any) -> None:
            self.spec = spec

        def as_estimator_spec(self) -> Any:
            return self.spec

    made = tiny.estimator(tmp_path, lambda features, labels, mode: TPUSpec(linear(features, labels, mode)))
    made.train(tiny.data, steps=2)
    assert made.evaluate(tiny.once)["global_step"] == 2


REFUSED: list[tuple[Any, str]] = [
    (lambda features, labels: None, r"in mode 'train': model_fn should return an EstimatorSpec, got NoneType.*return"),
    (lambda features, labels: (1, 2), r"should return an EstimatorSpec, got tuple \(1, 2\)"),
    (lambda features: None, "does not take labels, but input_fn returns labels. Add an argument `labels`"),
]


@pytest.mark.parametrize(("model_fn", "text"), REFUSED)
def test_a_wrong_model_fn_is_told_what_is_wrong(model_fn: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(lw.errors.ModelFnError, match=f"model_fn '<lambda>' .*{text}"):
        tiny.estimator(tmp_path, model_fn).train(tiny.once)
    assert list(tmp_path.glob("*.index")) == []


def test_missing_labels_are_named_as_the_likely_cause(tmp_path: Path) -> None:
    def only_features() -> Any:
        return tf.data.Dataset.from_tensor_slices({"x": tiny.X}).batch(4)

    text = (
        r"input_fn '.*only_features' gave no labels in mode 'train', and model_fn '.*linear' failed: \w+: .*"
        r"Return a \(features, labels\) pair from input_fn, or let model_fn do without labels"
    )
    with pytest.raises(lw.errors.InputFnError, match=text) as caught:
        tiny.estimator(tmp_path).train(only_features)
    assert isinstance(caught.value.__cause__, TypeError | ValueError)


def test_an_error_of_the_models_own_goes_through(tmp_path: Path) -> None:
    def fails(features: Any, labels: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tiny.estimator(tmp_path, fails).train(tiny.once)
