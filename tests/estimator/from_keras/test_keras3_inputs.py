"""Features by name or place, labels by output, sample weights, metric names, export outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.from_keras.models import (
    LOGITS,
    L,
    X,
    Y,
    close,
    compiled,
    estimator,
    functional,
    keras,
    rows,
    sequential,
)

import lightwell as lw

FEATURES = {"a": X, "b": X[:, :3], "unused": X}
LABELS = {"p": X[:, :1], "q": Y}


def two_by_two(as_dict: bool = False) -> Any:
    a, b = keras.Input((6,), name="a"), keras.Input((3,), name="b")
    hidden = L.Concatenate()([L.Dense(3)(a), L.Dense(3)(b)])
    p, q = L.Dense(1, name="p", kernel_regularizer="l2")(hidden), L.Dense(2, name="q")(hidden)
    model = keras.Model({"a": a, "b": b}, {"p": p, "q": q}) if as_dict else keras.Model([a, b], [p, q])
    model.compile(
        "sgd",
        {"p": "mse", "q": LOGITS},
        loss_weights={"p": 0.5, "q": 2.0},
        metrics={"p": ["mae"], "q": ["accuracy"]},
        weighted_metrics={"p": ["mse"], "q": []},
    )
    return model


def data() -> Any:
    return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(16)


def for_keras(weights: Any = None) -> Any:
    features = {name: FEATURES[name] for name in ("a", "b")}
    parts = (features, LABELS) if weights is None else (features, LABELS, weights)
    return tf.data.Dataset.from_tensor_slices(parts).batch(16)


@pytest.mark.parametrize("as_dict", [False, True])
def test_several_inputs_and_outputs_by_name(tmp_path: Path, as_dict: bool) -> None:
    model = two_by_two(as_dict)
    est = estimator(model, tmp_path)
    expected = model.evaluate(for_keras(), verbose=0, return_dict=True)
    assert {"p_loss", "p_mae", "p_mse", "q_accuracy"} < set(expected)
    close(est.evaluate(data), expected)
    est.train(lambda: data().repeat(5), steps=20)
    model.fit(for_keras(), epochs=5, shuffle=False, verbose=0)
    close(est.evaluate(data), model.evaluate(for_keras(), verbose=0, return_dict=True))
    found = list(est.predict(data))
    predicted = model.predict(for_keras(), verbose=0)
    by_name = predicted if as_dict else dict(zip("pq", predicted, strict=True))
    for name in "pq":
        np.testing.assert_allclose([row[name] for row in found], by_name[name], rtol=1e-5, atol=1e-5)


def test_inputs_and_outputs_by_place(tmp_path: Path) -> None:
    est = estimator(two_by_two(), tmp_path)
    by_place = est.evaluate(lambda: data().map(lambda f, y: ((f["a"], f["b"]), (y["p"], y["q"]))))
    assert by_place == est.evaluate(data)


@pytest.mark.parametrize("name", ["x", "dense_input", "input_1"])
def test_the_name_that_keras_2_gave_an_input_still_works(tmp_path: Path, name: str) -> None:
    named = {
        "x": functional,
        "dense_input": sequential,
        "input_1": lambda: keras.Sequential([keras.Input((6,)), L.Dense(2)]),
    }
    est = estimator(compiled(named[name]()), tmp_path)
    assert est.evaluate(lambda: rows().map(lambda x, y: ({name: x}, y))) == est.evaluate(rows)


def test_a_missing_feature_is_told_with_the_nearest(tmp_path: Path) -> None:
    est = estimator(two_by_two(), tmp_path)
    with pytest.raises(KeyError) as told:
        est.evaluate(lambda: data().map(lambda f, y: ({"a": f["a"], "bb": f["b"]}, y)))
    text = str(told.value)
    assert "The dictionary passed into features does not cover requested inputs keys defined in the keras model" in text
    assert "Expected keys: ['a', 'b']" in text
    assert "features keys: ['a', 'bb']" in text
    assert "Missed keys: ['b']" in text
    assert "For 'b': The nearest names are ['bb']." in text
    assert isinstance(told.value, lw.errors.UnknownFeature)


def test_a_missing_label_is_told(tmp_path: Path) -> None:
    est = estimator(two_by_two(), tmp_path)
    with pytest.raises(KeyError, match="The dictionary passed into labels does not cover requested outputs keys"):
        est.evaluate(lambda: data().map(lambda f, y: (f, {"p": y["p"]})))


def test_too_few_features_are_told(tmp_path: Path) -> None:
    est = estimator(two_by_two(), tmp_path)
    with pytest.raises(lw.errors.ModelFnError, match=r"has 2 inputs, \['a', 'b'\], but input_fn gives 1 for features"):
        est.evaluate(lambda: data().map(lambda f, y: (f["a"], y)))


def test_no_labels_are_told(tmp_path: Path) -> None:
    est = estimator(compiled(sequential()), tmp_path)
    with pytest.raises(lw.errors.InputFnError, match="gave no labels in mode 'eval'"):
        est.evaluate(lambda: rows().map(lambda x, y: x))


ROW_WEIGHTS = np.linspace(0.0, 2.0, 64).astype(np.float32)


def weighted(weights: Any) -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices(
        ({"features": FEATURES, "sample_weights": weights}, LABELS)
    ).batch(16)


def test_sample_weights_count_as_in_keras(tmp_path: Path) -> None:
    model = two_by_two(as_dict=True)
    weights = {"p": ROW_WEIGHTS, "q": 1.0 - ROW_WEIGHTS / 4}
    est = estimator(model, tmp_path)
    close(est.evaluate(weighted(weights)), model.evaluate(for_keras(weights), verbose=0, return_dict=True))
    est.train(weighted(weights), steps=4)
    model.fit(for_keras(weights), shuffle=False, verbose=0)
    close(est.evaluate(weighted(weights)), model.evaluate(for_keras(weights), verbose=0, return_dict=True))


def test_one_weight_for_all_outputs_and_by_place(tmp_path: Path) -> None:
    est = estimator(two_by_two(), tmp_path)
    once = est.evaluate(weighted(ROW_WEIGHTS))
    assert once == est.evaluate(weighted((ROW_WEIGHTS, ROW_WEIGHTS)))
    assert once["loss"] != est.evaluate(data)["loss"]


def test_weights_for_what_is_no_output_are_refused(tmp_path: Path) -> None:
    est = estimator(two_by_two(), tmp_path)
    with pytest.raises(KeyError, match="has weights for 'pp', which is no output of the Keras model"):
        est.evaluate(weighted({"pp": ROW_WEIGHTS}))


def test_metrics_are_renamed(tmp_path: Path) -> None:
    est = estimator(compiled(sequential()), tmp_path, metric_names_map={"accuracy": "acc"})
    assert sorted(est.evaluate(rows)) == ["acc", "global_step", "loss"]


def test_a_name_of_no_metric_is_refused(tmp_path: Path) -> None:
    est = estimator(compiled(sequential()), tmp_path, metric_names_map={"accuracy": "acc", "acuracy": "b"})
    with pytest.raises(
        ValueError,
        match=r"unexpected keys in the `metric_names_map` dictionary. Expected keys: \['accuracy'\], Received: "
        r"\['acuracy'\]. For 'acuracy': The nearest names are \['accuracy'\]",
    ):
        est.evaluate(rows)


def test_a_metric_without_a_new_name_is_refused(tmp_path: Path) -> None:
    model = compiled(sequential(), metrics=["accuracy", keras.metrics.SparseCategoricalCrossentropy(name="xe")])
    est = estimator(model, tmp_path, metric_names_map={"accuracy": "acc"})
    with pytest.raises(ValueError, match=r"The following keras model metric names:\"\['xe'\]\" do not exist in the"):
        est.evaluate(rows)


def exported(model: Any, model_dir: Path, mode: str = lw.ModeKeys.PREDICT, **settings: Any) -> Any:
    est = estimator(model, model_dir, **settings)
    with tf.Graph().as_default():
        tf.compat.v1.train.create_global_step()
        features = {name: tf.zeros((2, FEATURES[name].shape[1])) for name in ("a", "b")}
        return est.model_fn(features, None, mode, est.config).export_outputs


def test_all_outputs_are_exported_and_each_that_is_asked_for(tmp_path: Path) -> None:
    export = lw.estimator.export
    wanted = {"p": export.RegressionOutput, "q": export.ClassificationOutput}
    outputs = exported(two_by_two(), tmp_path, export_outputs=wanted)
    assert {name: type(output).__name__ for name, output in outputs.items()} == {
        "serving_default": "PredictOutput",
        "p": "RegressionOutput",
        "q": "ClassificationOutput",
    }
    assert sorted(outputs["serving_default"].outputs) == ["p", "q"]
    assert outputs["p"].value is outputs["serving_default"].outputs["p"]


def test_an_export_of_what_is_no_output_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"does not cover requested \['pp'\] keys defined in the keras model") as told:
        exported(two_by_two(), tmp_path, export_outputs={"pp": lw.estimator.export.PredictOutput})
    assert "The keys of export_outputs are names of the model's outputs. For 'pp': The nearest names" in str(told.value)
