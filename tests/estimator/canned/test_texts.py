"""What canned models say when something cannot be right. One test for each text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

column = tf.feature_column
AGE = column.numeric_column("age")
CITY = column.categorical_column_with_vocabulary_list("city", ["rome", "oslo"])


def rows(labels: Any = (0, 1), **features: Any) -> Callable[[], Any]:
    """Two examples."""
    given = {"age": [[0.5], [0.7]], "city": [["rome"], ["oslo"]], **features}
    return lambda: tf.data.Dataset.from_tensors((given, tf.reshape(tf.constant(labels), [2, -1])))


def test_a_feature_that_is_not_there() -> None:
    text = r"LinearClassifier: Feature ages is not in features dictionary. The column 'ages' reads it; input_fn gave \['age', 'city'\]. Near to it: \['age'\]"  # noqa: E501
    with pytest.raises(ValueError, match=text) as caught:
        lw.LinearClassifier([column.numeric_column("ages")]).train(rows())
    assert isinstance(caught.value, KeyError)


def test_a_feature_that_is_not_there_at_export(tmp_path: Path) -> None:
    est = lw.LinearClassifier([AGE], model_dir=str(tmp_path / "model")).train(rows(), steps=1)
    receiver = lw.export.build_raw_serving_input_receiver_fn({"ages": tf.ones([2, 1])})
    text = (
        r"Feature age is not in features dictionary. The column 'age' reads it; the receiver function gave \['ages'\]"
    )
    with pytest.raises(ValueError, match=text):
        est.export_saved_model(str(tmp_path / "export"), receiver)


def test_a_feature_that_a_crossed_column_misses() -> None:
    crossed = column.crossed_column(["city", "street"], 5)
    with pytest.raises(ValueError, match=r"Feature street is not in .* The column 'city_X_street' reads it"):
        lw.LinearClassifier([crossed]).train(rows())


def test_numbers_that_are_words() -> None:
    text = r"DNNRegressor: Cast string to float is not supported. key: city, column dtype: float32, tensor dtype: string.*tf.strings.to_number"  # noqa: E501
    with pytest.raises(TypeError, match=text):
        lw.DNNRegressor([2], [column.numeric_column("city")]).train(rows())


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: column.categorical_column_with_vocabulary_list("age", ["young", "old"]),
            r"input_tensor dtype must be string or integer. key: age, .* tensor dtype: float32.*a bucketized_column",
        ),
        (
            lambda: column.categorical_column_with_hash_bucket("city", 3, dtype=tf.int64),
            r"Column dtype and SparseTensors dtype must be compatible. key: city, .* with dtype=tf.string",
        ),
        (
            lambda: column.categorical_column_with_identity("city", 3),
            r"LinearClassifier: Invalid input, not integer. key: city, .* class numbers from 0 on",
        ),
    ],
)
def test_a_feature_of_a_type_that_its_column_cannot_read(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=text) as caught:
        lw.LinearClassifier([make()]).train(rows())
    assert isinstance(caught.value, TypeError)


def test_more_numbers_than_the_column_has() -> None:
    text = r"DNNClassifier: Cannot reshape a tensor: the feature 'age' has the shape \(.*\), 1 number per example, and its column reads 2. .*shape=\[1\]"  # noqa: E501
    with pytest.raises(ValueError, match=text):
        lw.DNNClassifier([2], [column.numeric_column("age", [2])]).train(rows())


def test_a_vocabulary_file_that_is_gone(tmp_path: Path) -> None:
    path = str(tmp_path / "words.txt")
    words = column.categorical_column_with_vocabulary_file("city", path, 3)
    with pytest.raises(
        OSError, match=r"vocabulary_file in city does not exist: '.*words.txt' .* The column 'city' looks"
    ) as caught:
        lw.LinearClassifier([words]).train(rows())
    assert isinstance(caught.value, tf.errors.NotFoundError)


def test_a_vocabulary_file_below_an_embedding_is_looked_for_too(tmp_path: Path) -> None:
    words = column.categorical_column_with_vocabulary_file("city", str(tmp_path / "words.txt"), 3)
    with pytest.raises(OSError, match=r"The column 'city_embedding' looks its words up in it"):
        lw.DNNClassifier([2], [column.embedding_column(words, 2)]).train(rows())


def test_more_labels_than_classes() -> None:
    text = r"(?s)Label IDs must < n_classes.*from 0 to 2. Check n_classes .* Got\] \[7\].*failed in training, batch 1"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        lw.LinearClassifier([AGE], n_classes=3).train(rows(labels=(1, 7)))


def test_one_class() -> None:
    with pytest.raises(ValueError, match=r"BaselineClassifier: n_classes must be > 1, a whole number, got 1"):
        lw.BaselineClassifier(n_classes=1)


def test_weights_of_another_shape() -> None:
    with pytest.raises(ValueError, match=r"(?s)weight.*\(2, 3\)"):
        lw.LinearClassifier([AGE], weight_column="w").train(rows(w=[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]))


def test_labels_of_another_shape() -> None:
    with pytest.raises(ValueError, match=r"(?s)labels.*\(2, 3\)"):
        lw.LinearRegressor([AGE]).train(rows(labels=[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]))


@pytest.mark.parametrize("units", [None, 3])
def test_no_hidden_units(units: Any) -> None:
    text = r"DNNClassifier: hidden_units must be given: a list .* without hidden layers, pass \[\]"
    with pytest.raises(ValueError, match=text):
        lw.DNNClassifier(units, [AGE])


def test_a_model_without_hidden_layers() -> None:
    made = lw.DNNClassifier([], [AGE]).train(rows(), steps=1)
    assert [name for name in made.get_variable_names() if name.endswith("kernel")] == ["dnn/logits/kernel"]


@pytest.mark.parametrize(
    ("units", "got"),
    [
        ([4, 0], r"got 0 \(int\) in \[4, 0\]"),
        ([2.5], r"got 2.5 \(float\) in \[2.5\]"),
        ([AGE], r"got NumericColumn.* Columns go to feature_columns"),
    ],
)
def test_hidden_units_that_are_none(units: Any, got: str) -> None:
    with pytest.raises(ValueError, match=r"hidden_units must hold positive whole numbers, the number of .*" + got):
        lw.DNNClassifier(units, [AGE])


def test_hidden_units_of_any_kind_of_list() -> None:
    lw.DNNClassifier((4, 2), [AGE])
    lw.DNNClassifier(np.array([4, 2]), [AGE])


def test_no_columns_at_all() -> None:
    with pytest.raises(ValueError, match=r"Either linear_feature_columns or dnn_feature_columns must be defined"):
        lw.DNNLinearCombinedClassifier()


def test_deep_columns_without_hidden_units() -> None:
    with pytest.raises(ValueError, match=r"dnn_hidden_units must be defined when dnn_feature_columns is specified"):
        lw.DNNLinearCombinedRegressor(dnn_feature_columns=[AGE])


def test_an_empty_list_of_columns() -> None:
    with pytest.raises(ValueError, match=r"LinearRegressor: feature_columns must not be empty. Pass at least one"):
        lw.LinearRegressor([])


def test_a_key_in_place_of_a_column() -> None:
    text = r"feature_columns must hold feature columns only .* got 'age' \(str\).*column.numeric_column\('age'\)"
    with pytest.raises(ValueError, match=text):
        lw.LinearRegressor(["age"])


def test_a_layer_in_place_of_a_column() -> None:
    with pytest.raises(ValueError, match=r"feature_columns must hold feature columns only .* \(Dense\). A column says"):
        lw.LinearRegressor([lw.layers.Dense(3, name="named")])


def test_a_raw_category_in_a_network() -> None:
    text = r"Items of feature_columns must be a _DenseColumn, and the column 'city' in {} is a Vocab.*indicator_column"
    with pytest.raises(ValueError, match=text.format("feature_columns")):
        lw.DNNClassifier([2], [CITY])
    with pytest.raises(ValueError, match=text.format("dnn_feature_columns")):
        lw.DNNLinearCombinedClassifier(dnn_feature_columns=[AGE, CITY], dnn_hidden_units=[2])


def test_an_optimizer_of_unknown_name() -> None:
    text = r"DNNClassifier: Unsupported optimizer name: adam. Supported names are: \(.*\). Did you mean 'Adam'\?"
    with pytest.raises(ValueError, match=text):
        lw.DNNClassifier([2], [AGE], optimizer="adam")


def test_an_optimizer_that_is_none() -> None:
    with pytest.raises(
        ValueError, match=r"The given object is not a tf.keras.optimizers.Optimizer instance. Given: 0.1 \(a float\)"
    ):
        lw.LinearClassifier([AGE], optimizer=0.1)


def test_a_function_that_makes_no_optimizer() -> None:
    with pytest.raises(
        ValueError, match=r"not a tf.keras.optimizers.Optimizer instance. Given: None \(a NoneType\), by optimizer\(\)"
    ):
        lw.LinearClassifier([AGE], optimizer=lambda: None).train(rows())


def test_a_function_that_cannot_be_called_without_arguments() -> None:
    with pytest.raises(ValueError, match=r"It cannot be called without \['rate'\]: write lambda: \.\.\. around it"):
        lw.LinearClassifier([AGE], optimizer=lambda rate: rate)


def test_a_weight_column_that_is_not_there() -> None:
    text = r"Feature wieght is not in features dictionary. The weight_column of the head .* Near to it: \['weight'\]"
    with pytest.raises(ValueError, match=text):
        lw.LinearClassifier([AGE], weight_column="wieght").train(rows(weight=[[1.0], [2.0]]))


def test_labels_of_another_key() -> None:
    def keyed() -> Any:
        return rows()().map(lambda features, labels: (features, {"prise": labels, "click": labels}))

    head = lw.MultiHead([lw.RegressionHead(name="price"), lw.BinaryClassHead(name="click")])
    text = r"labels has missing values for head\(s\): \['price'\]. It has .* Near to it: \['prise'\]"
    with pytest.raises(ValueError, match=text):
        lw.LinearEstimator(head, [AGE]).train(keyed)
    with pytest.raises(
        ValueError, match=r"RegressionHead: labels must be a Tensor, got a dict with \['click', 'prise'\]"
    ):
        lw.LinearRegressor([AGE]).train(keyed)


def test_a_combiner_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"sparse_combiner must be one of \['mean', 'sqrtn', 'sum'\], got 'max'"):
        lw.LinearClassifier([CITY], sparse_combiner="max")


def test_features_that_have_no_names() -> None:
    def bare() -> Any:
        return tf.data.Dataset.from_tensors(([[1.0], [2.0]], [[1], [0]]))

    with pytest.raises(ValueError, match=r"LinearClassifier: features should be a dictionary of `Tensor`s"):
        lw.LinearClassifier([AGE]).train(bare)


def test_a_head_that_is_none() -> None:
    with pytest.raises(
        ValueError, match=r"LinearEstimator: head must be a Head, such as .* got <class .*BinaryClassHead"
    ):
        lw.LinearEstimator(lw.BinaryClassHead, [AGE])
