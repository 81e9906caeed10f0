"""Columns of TensorFlow's older kind, as `tf.compat.v1` made them, in every model that reads columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.feature_column import feature_column as old

import lightwell as lw
from lightwell.compat.v1 import estimator as v1

new = tf.feature_column

CITIES = ["Rome", "Oslo"]
Columns = Callable[[], list[Any]]


def data() -> Any:
    features = {"age": [[20.0], [40.0], [60.0]], "city": [["Rome"], ["Oslo"], ["Rome"]]}
    return tf.data.Dataset.from_tensors((features, [[1.0], [2.0], [3.0]])).repeat()


def old_dense() -> list[Any]:
    city = old._categorical_column_with_vocabulary_list("city", CITIES)
    age = old._numeric_column("age")
    return [age, old._bucketized_column(age, [30.0]), old._indicator_column(city), old._embedding_column(city, 2)]


def new_dense() -> list[Any]:
    city, age = new.categorical_column_with_vocabulary_list("city", CITIES), new.numeric_column("age")
    return [age, new.bucketized_column(age, [30.0]), new.indicator_column(city), new.embedding_column(city, 2)]


def old_wide() -> list[Any]:
    city = old._categorical_column_with_vocabulary_list("city", CITIES)
    return [old._numeric_column("age"), city, old._crossed_column(["city", "city"], 3)]


def new_wide() -> list[Any]:
    city = new.categorical_column_with_vocabulary_list("city", CITIES)
    return [new.numeric_column("age"), city, new.crossed_column(["city", "city"], 3)]


def linear(face: Any, wide: list[Any], dense: list[Any], **settings: Any) -> Any:
    return face.LinearRegressor(wide, **settings)


def dnn(face: Any, wide: list[Any], dense: list[Any], **settings: Any) -> Any:
    return face.DNNRegressor([3], dense, **settings)


def combined(face: Any, wide: list[Any], dense: list[Any], **settings: Any) -> Any:
    return face.DNNLinearCombinedRegressor(
        linear_feature_columns=wide, dnn_feature_columns=dense, dnn_hidden_units=[3], **settings
    )


def trained(make: Any, face: Any, directory: Path, columns: tuple[Columns, Columns]) -> Any:
    config = lw.RunConfig(str(directory), tf_random_seed=1)
    est = make(face, columns[0](), columns[1](), config=config)
    return est.train(data, steps=2)


def weights(est: Any) -> Iterator[tuple[str, Any]]:
    return ((name, est.get_variable_value(name)) for name in est.get_variable_names())


@pytest.mark.parametrize("face", [v1, lw.estimator], ids=["v1", "v2"])
@pytest.mark.parametrize("make", [linear, dnn, combined])
def test_they_train_the_same_weights_as_those_of_today(make: Any, face: Any, tmp_path: Path) -> None:
    ours = dict(weights(trained(make, face, tmp_path / "old", (old_wide, old_dense))))
    theirs = dict(weights(trained(make, face, tmp_path / "new", (new_wide, new_dense))))
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, err_msg=name)


def test_each_is_a_layer_with_a_path(tmp_path: Path) -> None:
    est = trained(combined, v1, tmp_path, (old_wide, old_dense))
    embedded = "layers/dnn/input_from_feature_columns/input_layer/city_embedding"
    row = next(est.predict(data, taps=["layers/linear/linear_model/age", embedded]))
    assert row[embedded].shape == (2,)
    changed = next(est.predict(data, edits=[lw.zero("layers/linear/linear_model/age")]))
    assert changed["predictions"] != row["predictions"]
