"""`EstimatorSpec`: what it keeps, what it completes, and what it refuses, per mode."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

from lightwell.base.keys import ModeKeys
from lightwell.errors import ModelFnError, WrongType
from lightwell.model.outputs import PredictOutput, RegressionOutput
from lightwell.model.spec import EstimatorSpec, checked_hooks

v1 = tf.compat.v1
EAGER = tf.constant(1.0)
TRAIN, EVAL, PREDICT = ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def loss() -> Any:
    return tf.constant(1.0, name="my_loss")


@pytest.fixture
def out() -> Any:
    return tf.constant([1.0, 2.0])


class Hook(v1.train.SessionRunHook):
    pass


def test_fields_and_their_order_are_the_originals() -> None:
    assert EstimatorSpec._fields == (
        "mode",
        "predictions",
        "loss",
        "train_op",
        "eval_metric_ops",
        "export_outputs",
        "training_chief_hooks",
        "training_hooks",
        "scaffold",
        "evaluation_hooks",
        "prediction_hooks",
    )


def test_what_is_left_out_is_completed(loss: Any) -> None:
    spec = EstimatorSpec(EVAL, loss=loss)
    assert (spec.predictions, spec.eval_metric_ops, spec.export_outputs, spec.train_op) == ({}, {}, None, None)
    assert spec.training_hooks == spec.training_chief_hooks == spec.evaluation_hooks == spec.prediction_hooks == ()
    assert isinstance(spec.scaffold, v1.train.Scaffold)


def test_a_spec_with_everything_serves_every_mode(loss: Any, out: Any) -> None:
    hooks = [Hook()]
    scaffold = v1.train.Scaffold()
    for mode in (TRAIN, EVAL, PREDICT):
        spec = EstimatorSpec(
            mode,
            predictions=OrderedDict(b=out, a=out),
            loss=loss,
            train_op=tf.no_op(),
            eval_metric_ops={"m": (loss, loss)},
            training_hooks=hooks,
            scaffold=scaffold,
        )
        assert list(spec.predictions) == ["b", "a"]
        assert type(spec.predictions) is dict
        assert spec.training_hooks == tuple(hooks)
        assert spec.scaffold is scaffold
        assert spec.mode == spec[0] == mode


def test_a_loss_of_one_element_becomes_a_scalar(loss: Any) -> None:
    assert EstimatorSpec(EVAL, loss=loss).loss is loss
    for shape in ([1], [1, 1]):
        assert EstimatorSpec(EVAL, loss=tf.reshape(loss, shape)).loss.shape.rank == 0
    unknown = v1.placeholder(tf.float32, None)
    assert EstimatorSpec(EVAL, loss=unknown).loss is not None


def test_a_train_op_may_be_an_op_a_tensor_or_a_variable(loss: Any) -> None:
    op = tf.no_op()
    assert EstimatorSpec(TRAIN, loss=loss, train_op=op).train_op is op
    assert EstimatorSpec(TRAIN, loss=loss, train_op=loss).train_op is loss
    variable = v1.get_variable("v", [])
    assert EstimatorSpec(TRAIN, loss=loss, train_op=variable).train_op is variable.op


def test_predictions_may_be_variables_sparse_and_ragged() -> None:
    given = {
        "variable": v1.get_variable("v", [2]),
        "sparse": tf.sparse.from_dense([[1, 0]]),
        "ragged": tf.ragged.constant([[1], [2, 3]]),
    }
    assert EstimatorSpec(EVAL, given, loss=tf.constant(1.0)).predictions == given


def test_a_prediction_is_served_without_being_told_to(out: Any) -> None:
    single = EstimatorSpec(PREDICT, out).export_outputs
    assert single is not None
    assert single["serving_default"].outputs == {"output": out}
    several = EstimatorSpec(PREDICT, {"a": out, "b": out}).export_outputs
    assert several is not None
    assert set(several["serving_default"].outputs) == {"a", "b"}
    assert EstimatorSpec(PREDICT, out, export_outputs={}).export_outputs == {}


def test_a_lone_signature_is_also_the_default(out: Any) -> None:
    lone = RegressionOutput(out)
    assert EstimatorSpec(PREDICT, out, export_outputs={"mine": lone}).export_outputs == {
        "mine": lone,
        "serving_default": lone,
    }
    two = {"serving_default": lone, "other": PredictOutput(out)}
    assert EstimatorSpec(PREDICT, out, export_outputs=two).export_outputs == two


def test_exports_are_not_looked_at_outside_prediction(loss: Any) -> None:
    assert EstimatorSpec(EVAL, loss=loss, export_outputs={"a": 1}).export_outputs == {"a": 1}  # type: ignore[dict-item]


def test_replace_checks_again(loss: Any, out: Any) -> None:
    spec = EstimatorSpec(EVAL, loss=loss)
    assert spec._replace(predictions=out).predictions is out
    assert spec._replace(mode=EVAL).mode == EVAL
    with pytest.raises(ModelFnError, match="mode of EstimatorSpec cannot be changed, from 'eval' to 'train'"):
        spec._replace(mode=TRAIN)
    with pytest.raises(ModelFnError, match=r"EstimatorSpec has no fields \['lss'\]; it has \['mode', 'predictions'"):
        spec._replace(lss=1)
    with pytest.raises(WrongType, match=r"loss must be Tensor, given: 1\.0 \(float\)"):
        spec._replace(loss=1.0)


PAIRS = r"Values of eval_metric_ops must be \(metric_value, update_op\) tuples"
REFUSED: list[tuple[str, dict[str, Any], type, str]] = [
    (TRAIN, {"loss": None}, ModelFnError, r"mode='train'\): Missing loss.*got None.*Pass loss="),
    (TRAIN, {"train_op": None}, ModelFnError, r"mode='train'\): Missing train_op.*got None.*optimizer\.minimize"),
    (EVAL, {"loss": None}, ModelFnError, r"mode='eval'\): Missing loss"),
    (PREDICT, {"predictions": None}, ModelFnError, r"mode='infer'\): Missing predictions.*Pass predictions="),
    (TRAIN, {"loss": 1.0}, WrongType, r"loss must be Tensor, given: 1.0 \(float\)"),
    (TRAIN, {"loss": np.float32(1)}, WrongType, r"loss must be Tensor, given: .*\(float32\)"),
    (TRAIN, {"train_op": 1}, WrongType, r"train_op must be Operation or Tensor, given: 1 \(int\)"),
    (TRAIN, {"train_op": ["x"]}, WrongType, r"train_op must be .*given: \['x'\] \(list\).*tf\.group"),
    (TRAIN, {"predictions": [1.0]}, WrongType, r"predictions must be Tensor, given: \[1.0\].*a dict of"),
    (TRAIN, {"predictions": {"a": 1.0}}, WrongType, r"predictions\[a\] must be Tensor, given: 1.0 \(float\)"),
    (TRAIN, {"eval_metric_ops": [1]}, WrongType, r"eval_metric_ops must be a dict, given: \[1\].* by name"),
    (TRAIN, {"eval_metric_ops": {"a": 1}}, WrongType, rf"{PAIRS}, given: 1 \(int\) for key: a"),
    (TRAIN, {"eval_metric_ops": {"a": (1, 2, 3)}}, WrongType, rf"{PAIRS}, given: \(1, 2, 3\) \(tuple\) for key: a"),
    (TRAIN, {"eval_metric_ops": {"a": [1, 2]}}, WrongType, rf"{PAIRS}, given: \[1, 2\] \(list\) for key: a"),
    (EVAL, {"eval_metric_ops": {"a": (1.0, 2.0)}}, WrongType, rf"{PAIRS}.* a pair with 1.0 \(float\) in it for key: a"),
    (
        EVAL,
        {"eval_metric_ops": {"a": (EAGER, EAGER)}},
        ModelFnError,
        r"eval_metric_ops with \"a: .* must be from the default graph",
    ),
    (PREDICT, {"eval_metric_ops": {"a": tf.keras.metrics.Mean}}, WrongType, rf"{PAIRS}, given: .*Mean.* for key: a"),
    (PREDICT, {"eval_metric_ops": {"a": tf.keras.metrics.Mean()}}, ModelFnError, r"Please call update_state\(...\) on"),
    (EVAL, {"eval_metric_ops": {1: (1.0, 2.0)}}, WrongType, r"names of eval_metric_ops must be strings, got 1 \(int\)"),
    (
        TRAIN,
        {"scaffold": "a"},
        WrongType,
        "scaffold must be tf.train.Scaffold. Given: 'a' .*tf.compat.v1.train.Scaffold",
    ),
    (TRAIN, {"training_hooks": [1]}, WrongType, r"training_hooks: 1 is not a hook: it has no \['begin', .*Derive"),
    (
        TRAIN,
        {"training_hooks": Hook()},
        WrongType,
        r"training_hooks must be a list of hooks\. .*given: <.*Put a single one into a list",
    ),
    (TRAIN, {"training_chief_hooks": [Hook]}, WrongType, "is not a hook: it is a class; make an instance of it"),
    (TRAIN, {"evaluation_hooks": "ab"}, WrongType, r"evaluation_hooks must be a list of hooks\. .*given: 'ab'"),
    (TRAIN, {"prediction_hooks": [None]}, WrongType, "prediction_hooks: None is not a hook"),
    (PREDICT, {"export_outputs": [1]}, WrongType, r"`export_outputs` must be dict, received: \[1\] \(list\)"),
    (PREDICT, {"export_outputs": {"a": 1}}, WrongType, "must be ExportOutput objects, received: 1 .* for 'a'"),
]


@pytest.mark.parametrize(("mode", "fields", "error", "text"), REFUSED)
def test_refusals(mode: str, fields: dict[str, Any], error: type, text: str, loss: Any, out: Any) -> None:
    complete = {"loss": loss, "train_op": tf.no_op(), "predictions": {"out": out}}
    with pytest.raises(error, match=text):
        EstimatorSpec(mode, **{**complete, **fields})


def test_a_loss_of_many_elements_says_how_to_reduce_it() -> None:
    with pytest.raises(ModelFnError, match=r"Loss must be scalar, given: many:0 of shape \(4,\)\. Reduce it first"):
        EstimatorSpec(EVAL, loss=tf.constant([1.0] * 4, name="many"))


def test_several_signatures_need_a_default(out: Any) -> None:
    given = {"a": PredictOutput(out), "b": PredictOutput(out)}
    with pytest.raises(ModelFnError, match=r"none of them .* the default, .*'serving_default'; got \['a', 'b'\]"):
        EstimatorSpec(PREDICT, out, export_outputs=given)


@pytest.mark.parametrize("field", ["loss", "train_op", "predictions"])
def test_what_belongs_to_another_graph_is_named(field: str, loss: Any, out: Any) -> None:
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="stray")
    given = {"loss": loss, "train_op": tf.no_op(), field: {"a": foreign} if field == "predictions" else foreign}
    with pytest.raises(
        ModelFnError, match=r"with \"(a: )?stray:0\" must be from the default graph.*this is of another one"
    ):
        EstimatorSpec(TRAIN, **given)


def test_an_eager_tensor_belongs_to_no_graph(loss: Any) -> None:
    with pytest.raises(ModelFnError, match=r"loss with .* must be from the default graph"):
        EstimatorSpec(EVAL, loss=EAGER)


def test_a_hook_is_told_by_its_methods_not_by_its_base() -> None:
    class Duck:
        def begin(self) -> None: ...

        def after_create_session(self, session: Any, coord: Any) -> None: ...

        def before_run(self, run_context: Any) -> None: ...

        def after_run(self, run_context: Any, run_values: Any) -> None: ...

        def end(self, session: Any) -> None: ...

    duck = Duck()
    assert checked_hooks((hook for hook in [duck]), "here") == (duck,)
    assert checked_hooks(None, "here") == ()


@pytest.mark.parametrize("mode", [None, "other", "TRAIN"])
def test_a_mode_that_is_none_asks_for_nothing(mode: Any) -> None:
    spec = EstimatorSpec(mode)
    assert (spec.mode, spec.predictions, spec.loss, spec.train_op) == (mode, {}, None, None)


def test_a_keras_metric_is_a_pair_as_soon_as_the_spec_is_made(tmp_path: Path) -> None:
    seen: dict[str, Any] = {}

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        metric = tf.keras.metrics.Mean()
        metric.update_state(labels)
        spec = tiny.linear(features, labels, mode, {})._replace(eval_metric_ops={"mean": metric})
        value, update = spec.eval_metric_ops["mean"]
        seen[mode] = (tf.is_tensor(value), isinstance(update, tf.Operation))
        return spec

    estimator = tiny.estimator(tmp_path, model_fn)
    estimator.train(tiny.data, steps=1)
    assert estimator.evaluate(tiny.once)["mean"] == 9.0
    assert seen == {TRAIN: (True, True), EVAL: (True, True)}
    assert estimator.get_variable_names() == ["b", "global_step", "w"]
