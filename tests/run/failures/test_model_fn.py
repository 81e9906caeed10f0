"""Mistakes inside `model_fn` that Python or Keras tells too little about."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import keras
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.errors import ModelFnError

v1 = tf.compat.v1


def failing(directory: Path, model_fn: Any, kind: type[BaseException], **arguments: Any) -> BaseException:
    with pytest.raises(kind) as told:
        tiny.estimator(directory, model_fn, **arguments).train(tiny.data, steps=1)
    return told.value


def test_an_unknown_feature_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear({"x": features["age"]}, labels, mode, {})

    error = failing(tmp_path, model_fn, KeyError)
    assert error.args[0] == "age"
    assert str(error).endswith("model_fn': there is no key 'age'; input_fn gives features with 'x'.")
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert last.line == 'return tiny.linear({"x": features["age"]}, labels, mode, {})'


def test_in_a_function_that_model_fn_calls(tmp_path: Path) -> None:
    def column(given: Any, name: str) -> Any:
        return given[name]

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear({"x": column(dict(features), "z")}, labels, mode, {})

    assert "there is no key 'z'; input_fn gives features with 'x'." in str(failing(tmp_path, model_fn, KeyError))


def test_labels_have_keys_too(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return tiny.data().map(lambda features, labels: (features, {"click": labels, "buy": labels}))

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear(features, labels["clik"], mode, {})

    with pytest.raises(KeyError) as told:
        tiny.estimator(tmp_path, model_fn).train(input_fn, steps=1)
    assert "there is no key 'clik'; input_fn gives " in str(told.value)
    assert str(told.value).endswith("labels with 'buy', 'click'.")


def test_another_dict_is_the_programs_own_business(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        return _rate(params)

    def _rate(params: Any) -> Any:
        return params["rate"]

    def with_features_at_hand(features: Any, labels: Any, mode: str, params: Any) -> Any:
        rates = {"slow": 0.1}
        rate = rates[params["speed"]]
        return tiny.linear(features, labels, mode, {"rate": rate})

    error = failing(tmp_path, model_fn, KeyError, params={"depth": 2})
    assert type(error) is KeyError
    assert error.args == ("rate",)
    for params in ({}, {"speed": "fast"}):
        error = failing(tmp_path, with_features_at_hand, KeyError, params=params)
        assert type(error) is KeyError
        assert error.args == (params.get("speed", "speed"),)


def test_a_lookup_of_features_over_several_lines(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        columns = {
            name: features[
                name
            ]
            for name in ("x", "größe")
        }  # fmt: skip
        return tiny.linear(columns, labels, mode, {})

    assert "there is no key 'größe'; input_fn gives features" in str(failing(tmp_path, model_fn, KeyError))


def test_features_are_a_plain_dict(tmp_path: Path) -> None:
    seen: list[Any] = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        seen.append(type(features))
        seen.append(json.dumps({name: str(value.dtype) for name, value in features.items()}))
        seen.append(features == dict(**features))
        return tiny.linear(tf.nest.map_structure(tf.identity, features), labels, mode, {})

    tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=1)
    assert seen[0] is dict
    assert seen[2] is True


@pytest.mark.parametrize("method", ["fit", "predict", "evaluate"])
def test_a_keras_model_that_is_run_inside(tmp_path: Path, method: str) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        x = features["x"][:, tf.newaxis]
        if method == "predict":
            model.predict(x)
        else:
            getattr(model, method)(x, labels)
        return tiny.linear(features, labels, mode, {})

    error = failing(tmp_path, model_fn, ModelFnError)
    text = str(error)
    assert f"model_fn' calls {method}() of a Keras model, which runs a loop over data of its own (" in text
    assert "call the model instead, outputs = model(features)" in text
    lines = [frame.line or "" for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__]
    assert any("(x" in line for line in lines), "the user's line is in the traceback"


def test_fitting_arrays_inside_is_told_as_well(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(tiny.X[:, None], tiny.Y, verbose=0)
        return tiny.linear(features, labels, mode, {})

    text = str(failing(tmp_path, model_fn, ModelFnError))
    assert "is fitted before the Estimator is made" in text


def test_what_else_a_keras_model_raises_stays_as_it_is(tmp_path: Path) -> None:
    class Own(keras.layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            raise ZeroDivisionError("mine")

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear({"x": Own()(features["x"])}, labels, mode, {})

    assert type(failing(tmp_path, model_fn, ZeroDivisionError)) is ZeroDivisionError
    assert lw.Estimator(model_fn, str(tmp_path)).latest_checkpoint() is None
