"""Subclasses that override what they may; the error where they may not; packages that call private members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.errors import CheckpointUnreadable, ModelFnError, UsageError

v1 = tf.compat.v1


def times_ten(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    spec = tiny.linear(features, labels, mode, {})
    return spec if mode != lw.ModeKeys.PREDICT else spec._replace(predictions={"out": 10 * spec.predictions["out"]})


def test_a_model_fn_of_the_class_is_what_verbs_call(tmp_path: Path) -> None:
    class Own(lw.Estimator):
        @property
        def model_fn(self) -> Any:
            return times_ten

    own = Own(tiny.linear, str(tmp_path), params={}).train(tiny.data, steps=1)
    plain = lw.Estimator(tiny.linear, str(tmp_path), params={})
    ours, theirs = (next(made.predict(tiny.once))["out"] for made in (own, plain))
    np.testing.assert_allclose(ours, 10 * theirs)
    np.testing.assert_allclose(own.predictor()({"x": tiny.X})["out"][0], ours)


def test_a_method_that_is_also_given_as_model_fn(tmp_path: Path) -> None:
    class Own(lw.Estimator):
        def __init__(self, model_dir: str) -> None:
            super().__init__(self.model_fn, model_dir, params={"factor": 3.0})

        def model_fn(self, features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
            return lw.EstimatorSpec(mode, predictions=features["x"] * params["factor"])

    assert next(Own(str(tmp_path)).predict(tiny.once)) == 3.0


def test_a_method_that_makes_a_model_function_is_none(tmp_path: Path) -> None:
    class Own(lw.Estimator):
        def __init__(self, model_dir: str) -> None:
            super().__init__(self.model_fn(), model_dir)

        def model_fn(self) -> Any:
            return times_ten

    assert next(Own(str(tmp_path)).predict(tiny.once))["out"] == 10.0


def test_the_checkpoint_that_a_class_chooses_is_used(tmp_path: Path) -> None:
    class First(lw.Estimator):
        def latest_checkpoint(self) -> str | None:
            return str(tmp_path / "model.ckpt-0")

    tiny.trained(tmp_path, steps=3)
    first = First(tiny.linear, str(tmp_path), params={})
    assert first.evaluate(tiny.once)["global_step"] == 0
    assert next(first.predict(tiny.once))["out"] == 1.0
    assert (first.get_variable_value("w"), first.weights["w"]) == (1.0, 1.0)
    first.train(tiny.data, max_steps=4)
    assert tiny.estimator(tmp_path).evaluate(tiny.once)["global_step"] == 4, "training goes on from the newest"


def test_a_chosen_checkpoint_that_is_not_there_is_told(tmp_path: Path) -> None:
    class Lost(lw.Estimator):
        def latest_checkpoint(self) -> str | None:
            return str(tmp_path / "model.ckpt-9")

    tiny.trained(tmp_path)
    with pytest.raises(
        CheckpointUnreadable, match=r"latest_checkpoint\(\) '.*model.ckpt-9' does not exist.*model.ckpt-2"
    ):
        Lost(tiny.linear, str(tmp_path), params={}).evaluate(tiny.once)


def counting_from(start: int) -> type[lw.Estimator]:
    class Own(lw.Estimator):
        def _create_and_assert_global_step(self, graph: Any) -> Any:
            kinds = [v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.GLOBAL_STEP]
            first = v1.constant_initializer(start)
            return v1.get_variable("global_step", [], tf.int64, first, trainable=False, collections=kinds)

    return Own


def test_a_step_counter_of_ones_own(tmp_path: Path) -> None:
    own = counting_from(100)(tiny.linear, str(tmp_path), params={})
    own.train(tiny.data, steps=2)
    assert own.evaluate(tiny.once)["global_step"] == 102
    assert own.latest_checkpoint() == str(tmp_path / "model.ckpt-102")
    assert len(list(own.predict(tiny.once))) == 8


class LeavesItToTheModel(lw.Estimator):
    def _create_and_assert_global_step(self, graph: Any) -> None:
        return None


def test_a_step_counter_that_the_model_makes(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        v1.train.get_or_create_global_step()
        return tiny.linear(features, labels, mode, {})

    own = LeavesItToTheModel(model_fn, str(tmp_path))
    own.train(tiny.data, steps=2)
    assert own.evaluate(tiny.once)["global_step"] == 2
    assert len(list(own.predict(tiny.once))) == 8


def test_a_graph_without_a_step_counter_is_told(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        return lw.EstimatorSpec(mode, loss=tf.reduce_mean(labels), train_op=tf.no_op())

    text = r"no global step: _create_and_assert_global_step made none.*get_or_create_global_step\(\) in one of them"
    with pytest.raises(ModelFnError, match=text):
        LeavesItToTheModel(model_fn, str(tmp_path)).train(tiny.data, steps=1)


def test_a_step_counter_must_count(tmp_path: Path) -> None:
    class Own(lw.Estimator):
        def _create_and_assert_global_step(self, graph: Any) -> Any:
            return v1.get_variable("global_step", [], collections=[v1.GraphKeys.GLOBAL_VARIABLES])

    with pytest.raises(TypeError, match='"global_step" does not have integer type'):
        list(Own(tiny.linear, str(tmp_path), params={}).predict(tiny.once))


def test_private_members_build_a_model_in_the_callers_graph(tmp_path: Path) -> None:
    """As packages do that decode or export by themselves."""
    made = tiny.trained(tmp_path)
    with tf.Graph().as_default() as graph:
        step = made._create_and_assert_global_step(graph)
        assert v1.train.get_global_step() is step
        spec = made._call_model_fn({"x": tf.constant([2.0])}, None, lw.ModeKeys.PREDICT, made.config)
        creator = v1.train.ChiefSessionCreator(
            scaffold=spec.scaffold, config=made._session_config, checkpoint_filename_with_path=made.latest_checkpoint()
        )
        with v1.train.MonitoredSession(creator) as session:
            found = session.run(spec.predictions)["out"]
    expected = 2 * made.get_variable_value("w") + made.get_variable_value("b")
    np.testing.assert_allclose(found, [expected])
    with (
        tf.Graph().as_default(),
        pytest.raises(ModelFnError, match="does not take labels, but input_fn returns labels"),
    ):
        lw.Estimator(lambda features: None, str(tmp_path))._call_model_fn({}, tf.constant(1), "train", None)


def test_keras_layers_work_in_a_model_that_is_called_privately(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        out = tf.keras.layers.BatchNormalization()(features["x"][:, None])
        loss = tf.reduce_mean(tf.square(out[:, 0] - labels))
        return lw.EstimatorSpec(mode, loss=loss, train_op=lw.minimize(tf.keras.optimizers.SGD(0.1), loss))

    made = lw.Estimator(model_fn, str(tmp_path))
    with tf.Graph().as_default() as graph:
        made._create_and_assert_global_step(graph)
        spec = made._call_model_fn({"x": tf.constant(tiny.X)}, tf.constant(tiny.Y), "train", made.config)
        with v1.train.MonitoredSession(v1.train.ChiefSessionCreator(spec.scaffold)) as session:
            session.run(spec.train_op)
            moving = [v for v in v1.global_variables() if "moving_mean" in v.name]
            assert session.run(moving)[0] != 0.0


def test_one_model_wraps_another(tmp_path: Path) -> None:
    inner = lw.Estimator(tiny.linear, str(tmp_path), params={})

    def with_more(features: Any, labels: Any, mode: str, config: Any) -> lw.EstimatorSpec:
        spec = inner.model_fn(features, labels, mode, config)
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, "more": v1.metrics.mean(labels)})

    wrapped = lw.Estimator(with_more, inner.model_dir, inner.config, warm_start_from=inner._warm_start_settings)
    wrapped.train(tiny.data, steps=1)
    assert wrapped.evaluate(tiny.once)["more"] == 9.0


def test_what_a_program_puts_into_private_fields_counts(tmp_path: Path) -> None:
    first = tiny.trained(tmp_path / "first", params={"learning_rate": 0.01})
    second = tiny.estimator(tmp_path / "second")
    second._warm_start_settings = lw.WarmStartSettings(first.model_dir)
    second._params = {"learning_rate": 0.0}
    second._session_config = v1.ConfigProto(inter_op_parallelism_threads=1)
    assert second.params == {"learning_rate": 0.0}
    second.train(tiny.data, steps=1)
    assert second.get_variable_value("w") == first.get_variable_value("w") != 1.0
    second._model_fn = times_ten
    assert next(second.predict(tiny.once))["out"] == pytest.approx(10 * next(first.predict(tiny.once))["out"])


def test_a_class_may_override_verbs_if_it_takes_the_seal_off(tmp_path: Path) -> None:
    seen: list[str] = []

    class Own(lw.Estimator):
        def _assert_members_are_not_overridden(self) -> None:  # type: ignore[override]
            pass

        def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            return {**super().evaluate(*args, **kwargs), "mine": 1}

        def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> lw.EstimatorSpec:
            seen.append(mode)
            return super()._call_model_fn(features, labels, mode, config)

    own = Own(tiny.linear, str(tmp_path), params={})
    own.train(tiny.data, steps=1)
    assert own.evaluate(tiny.once)["mine"] == 1
    assert seen == ["train", "eval"]


def test_what_nothing_would_call_is_refused_even_then() -> None:
    with pytest.raises(UsageError, match=r"Own does override \['_train_with_estimator_spec'\]"):

        class Own(lw.Estimator):
            def __init__(self) -> None:
                lw.Estimator._assert_members_are_not_overridden = staticmethod(lambda _: None)  # type: ignore[method-assign]

            def _train_with_estimator_spec(self, *args: Any) -> None: ...


def test_a_subclass_may_have_a_constructor_and_methods_of_its_own() -> None:
    class Mine(lw.Estimator):
        def __init__(self, rate: float) -> None:
            super().__init__(tiny.linear, params={"learning_rate": rate})

        def rate(self) -> float:
            return float(self.params["learning_rate"])

    assert Mine(0.5).rate() == 0.5

    class Further(Mine):
        pass

    assert "Further(model_fn=linear" in repr(Further(0.1))


@pytest.mark.parametrize(
    ("member", "way_out"),
    [
        ("_call_model_fn", "declare it in `predictions`, or read it by its path"),
        ("train", "Put what shall happen during training in a SessionRunHook"),
        ("evaluate", "in a hook: evaluate"),
        ("predict", "in a hook: predict"),
        ("_call_input_fn", "Wrap input_fn in a function of your own"),
        ("_train_model", "Put that behaviour in model_fn, input_fn or a hook"),
        ("config", "Put that behaviour in model_fn, input_fn or a hook"),
    ],
)
def test_overriding_is_refused_when_the_class_is_made(member: str, way_out: str) -> None:
    text = rf"Subclasses of Estimator cannot override members of .* Mine does override \['{member}'\]\. .*{way_out}"
    with pytest.raises(UsageError, match=text):
        type("Mine", (lw.Estimator,), {member: lambda self: None, "__qualname__": "Mine"})


def test_several_at_once_are_told_at_once() -> None:
    members: dict[str, Any] = {"train": None, "_call_model_fn": None}
    with pytest.raises(UsageError, match=r"override \['_call_model_fn', 'train'\].*predictions.*SessionRunHook"):
        type("Mine", (lw.Estimator,), members)


def test_private_members_of_a_subclass_get_in_nobodys_way(tmp_path: Path) -> None:
    """Whatever the subclass calls them: parts of Lightwell's own have names that no program uses."""
    ours = {name for kind in lw.Estimator.__mro__ for name in vars(kind) if name.startswith("_lightwell")}
    named = ("_model", "_export", "_change_weight", "_trained_checkpoint", "_newest_checkpoint", "_events")
    members = dict.fromkeys([*named, *(f"_{name.removeprefix('_lightwell_')}" for name in ours)], 0)
    kind = type("Mine", (lw.Estimator,), members)
    made = kind(tiny.linear, str(tmp_path), params={})
    made._sessions = made._input_scope = made._holds_events = "mine"
    made.train(tiny.data, steps=2)
    assert made.evaluate(tiny.once)["global_step"] == 2
    assert len(list(made.predict(tiny.once))) == 8
    made.weights["w"] = 3.0
    assert made.get_variable_value("w") == 3.0
    assert made.export_saved_model(str(tmp_path / "exported"))
    made.close()
    own = {name for one in lw.Estimator.__mro__[:-1] for name in vars(one) if name[0] == "_" and name[:2] != "__"}
    as_in_the_original = {"_assert_members_are_not_overridden", "_create_and_assert_global_step", "_call_model_fn"}
    assert own - ours == as_in_the_original, "a new private member needs a name of ours"


def test_what_only_lightwell_has_may_be_hidden() -> None:
    class Mine(lw.Estimator):
        def describe(self) -> str:  # type: ignore[override]
            return "mine"

    assert Mine(tiny.linear, params={}).describe() == "mine"
