"""Estimators, heads and monitors of `tf.contrib.learn`: what TensorFlow 1.15.5 told of the same programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.compat.contrib import learn_programs, same

import lightwell as lw
from lightwell import tf1
from lightwell.compat.contrib.learn.utils import saved_model_export_utils

v1 = tf.compat.v1
learn = tf1.contrib.learn
RECORDED = json.loads((same.TARGET / "contrib_learn.json").read_text())["programs"]
X, YES = learn_programs.X, learn_programs.YES


def test_every_program_was_recorded() -> None:
    assert sorted(RECORDED) == sorted(learn_programs.PROGRAMS)


@pytest.mark.parametrize("name", sorted(learn_programs.PROGRAMS))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.plain(learn_programs.PROGRAMS[name](tf1)), RECORDED[name], name)


def _own(features: Any, labels: Any, mode: str) -> Any:
    weight = v1.get_variable("weight", [4, 1])
    scores = tf.matmul(features, weight)[:, 0]
    loss = None if labels is None else tf.reduce_mean(tf.square(scores - tf.cast(labels, tf.float32)))
    step = (
        v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step()) if mode == "train" else None
    )
    return {"scores": scores}, loss, step


def _linear(folder: Path) -> Any:
    return learn.LinearClassifier([tf1.contrib.layers.real_valued_column("x", 4)], model_dir=str(folder))


def test_exports_parse_examples_and_serve_classes(tmp_path: Path) -> None:
    model = _linear(tmp_path).fit({"x": X}, YES, steps=2, batch_size=10)
    spec = {"x": tf.io.FixedLenFeature([4], tf.float32)}
    folder = model.export_savedmodel(str(tmp_path / "export"), learn.build_parsing_serving_input_fn(spec))
    served = lw.from_saved_model(folder).predictor()
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0, 3.0, 4.0])
    given = {"x": X[:1]}
    given["x"][0] = [1.0, 2.0, 3.0, 4.0]
    answer = served({"inputs": [example.SerializeToString()]})
    np.testing.assert_allclose(answer["scores"], np.stack(list(model.predict_proba(given))), rtol=1e-5)
    assert answer["classes"].ravel().tolist()[0] in (b"0", b"1")


def test_an_experiment_trains_evaluates_and_exports(tmp_path: Path) -> None:
    seen = []

    class Steps(learn.monitors.BaseMonitor):  # type: ignore[misc, name-defined]
        def step_end(self, step: int, output: Any) -> bool:
            seen.append(step)
            return False

    def data() -> Any:
        return tf.data.Dataset.from_tensors(({"x": X}, YES)).repeat()

    columns = [tf1.contrib.layers.real_valued_column("x", 4)]
    strategy = saved_model_export_utils.make_parsing_export_strategy(columns)
    metric = learn.MetricSpec(lambda predictions, labels: v1.metrics.mean(predictions), prediction_key="logistic")
    experiment = learn.Experiment(
        _linear(tmp_path), data, data, {"share": metric}, 4, 1, [Steps()], eval_delay_secs=0, export_strategies=strategy
    )
    metrics, exports = experiment.train_and_evaluate()
    assert seen == [1, 2, 3, 4]
    assert metrics["global_step"] == 4
    assert 0 < metrics["share"] < 1
    assert saved_model_export_utils.get_most_recent_export(str(tmp_path / "export" / "Servo")).path == str(
        exports[0].decode() if isinstance(exports[0], bytes) else exports[0]
    )


def test_the_best_model_is_exported(tmp_path: Path) -> None:
    model = _linear(tmp_path).fit({"x": X}, YES, steps=1)
    spec = {"x": tf.io.FixedLenFeature([4], tf.float32)}
    best = saved_model_export_utils.make_best_model_export_strategy(learn.build_parsing_serving_input_fn(spec))
    results = [best.export(model, str(tmp_path / "best"), None, {"loss": loss}) for loss in (2.0, 3.0, 1.0)]
    assert [bool(one) for one in results] == [True, False, True]
    assert len(list((tmp_path / "best").iterdir())) == 1
    copied = saved_model_export_utils.extend_export_strategy(best, lambda first, own: own, "copy")
    assert copied.name == "copy"


def test_iterators_words_and_tables(tmp_path: Path) -> None:
    model = learn.Estimator(_own, model_dir=str(tmp_path))
    model.fit(iter(X), iter(YES), batch_size=8, steps=2)
    assert model.get_variable_value("global_step") == 2
    words = learn.DNNClassifier(
        [3], learn.infer_real_valued_columns_from_input(X), n_classes=3, label_keys=["no", "yes", "maybe"]
    )
    words.fit(X, np.array(["no", "yes", "maybe"] * 10), steps=2)
    assert set(words.predict(X)) <= {b"no", b"yes", b"maybe"}
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    assert learn.extract_pandas_data(table).dtype == np.float32
    assert learn.extract_pandas_labels(table[["a"]]).tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="Only one column for labels is allowed"):
        learn.extract_pandas_labels(table)


def test_parameters_as_scikit_learn_asks_for_them() -> None:
    model = learn.Estimator(_own, params=None)
    assert model.get_params()["params"] is None
    with pytest.raises(ValueError, match="Invalid parameter size for estimator Estimator"):
        model.set_params(size=3)
    assert not hasattr(learn, "DynamicRnnEstimator")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda m: m.evaluate(X, YES), "Couldn't find trained model at"),
        (lambda m: m.fit(), "Either x or input_fn must be provided"),
        (lambda m: m.fit(X, YES, input_fn=len), "Can not provide both input_fn and x or y"),
        (lambda m: m.fit(X, YES, steps=1, max_steps=2), "Can not provide both steps and max_steps"),
        (lambda m: m.fit(tf.constant(X), YES, steps=1), "Inputs cannot be tensors. Please provide input_fn"),
        (lambda m: m.fit(X, YES[:3], steps=1), "x and y must have as many rows"),
        (lambda m: m.fit(iter(X), steps=1), "pass batch_size"),
        (lambda m: m.fit(X, YES, steps=1, monitors=[3]), "monitors must be monitors"),
        (lambda m: m.export("folder"), "Use export_savedmodel"),
        (lambda m: learn.ModelFnOps("train"), "Missing train_op"),
        (lambda m: learn.ModelFnOps("infer"), "Missing predictions"),
        (lambda m: learn.ModelFnOps("eval", predictions=3), "Missing loss"),
        (lambda m: learn.Estimator(), "model_fn must be set"),
        (lambda m: learn.Estimator(_own, params={}), "does not take params"),
        (lambda m: learn.Estimator(lambda x: 3), "must take features and labels"),
        (lambda m: learn.Estimator(lambda features, labels: 3).fit(X, YES, steps=1), "Unrecognized value returned"),
        (lambda m: learn.multi_class_head(1), "n_classes must be > 1"),
        (lambda m: learn.multi_head([learn.regression_head()]), "head_name of its own"),
        (lambda m: learn.LinearEstimator([1], head=3), "must be a head of tf.contrib.learn"),
        (lambda m: learn.DNNLinearCombinedRegressor(), "must be defined"),
        (lambda m: learn.monitors.ValidationMonitor(), "Either x or input_fn should be provided"),
        (lambda m: learn.monitors.StopAtStep(), "exactly one of num_steps and last_step"),
        (lambda m: learn.monitors.ExportMonitor(1, "folder"), "SessionBundle"),
    ],
)
def test_refused(wrong: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        wrong(learn.Estimator(_own, model_dir=str(tmp_path)))
