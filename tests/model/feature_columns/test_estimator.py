"""Columns in a `model_fn`: training, evaluation, prediction, and shared embeddings that learn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.feature_columns import cases
from tests.model.feature_columns.programs import embedding, number

import lightwell as lw
from lightwell import tf1
from lightwell.feature_columns import DenseFeatures, SequenceFeatures

v1 = tf.compat.v1
fc = tf.feature_column
Net = Callable[[Any], Any]


def model_of(net: Net) -> Callable[..., Any]:
    """A model whose output is the sum over what `net` gives, drawn to one by plain gradient descent."""

    def model_fn(features: Any, mode: str) -> Any:
        output = tf.reduce_sum(net(features), axis=1)
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, predictions={"output": output})
        loss = tf.reduce_mean(tf.square(output - 1.0))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def everything(features: Any) -> Any:
    """Each kind of column, each way: two functions, two layers."""
    dense = [
        fc.numeric_column("age", normalizer_fn=lambda x: x / 100.0),
        fc.bucketized_column(fc.numeric_column("place", shape=(2,)), [3.0]),
        fc.indicator_column(fc.categorical_column_with_vocabulary_file("city", cases.CITIES_FILE, num_oov_buckets=1)),
        fc.indicator_column(fc.crossed_column(["city", "tags"], 7)),
        fc.embedding_column(fc.weighted_categorical_column(cases.categorical()["hash"], "tag_weights"), 2),
        fc.embedding_column(cases.categorical()["identity"], 2),
    ]
    parts = [
        v1.feature_column.input_layer(features, dense),
        v1.feature_column.linear_model(features, [cases.categorical()["list"], cases.categorical()["crossed"]]),
        DenseFeatures(dense)(features),
        tf.reduce_sum(SequenceFeatures(cases.sequences()["sequence_many"])(features)[0], axis=1),
    ]
    return tf.concat(parts, axis=1)


def test_train_evaluate_predict_with_every_kind_of_column(tmp_path: Path) -> None:
    est = lw.Estimator(model_of(everything), str(tmp_path))
    before = est.train(cases.features, steps=1).evaluate(cases.features, steps=1)
    after = est.train(cases.features, steps=20).evaluate(cases.features, steps=1)
    assert after["loss"] < before["loss"]
    assert after["global_step"] == 21
    rows = [row["output"] for row, _ in zip(est.predict(cases.features), range(4), strict=False)]
    np.testing.assert_allclose(np.mean(np.square(np.array(rows) - 1.0)), after["loss"], rtol=1e-4)


def test_a_layer_made_outside_of_model_fn_serves_every_build(tmp_path: Path) -> None:
    layer = DenseFeatures([fc.embedding_column(cases.categorical()["list"], 2), fc.numeric_column("age")])
    est = lw.Estimator(model_of(lambda features: layer(features)), str(tmp_path))
    est.train(cases.features, steps=2)
    assert est.evaluate(cases.features, steps=1)["global_step"] == 2


def _shared(make: Callable[..., Any]) -> Any:
    city, tags = (fc.categorical_column_with_vocabulary_list(key, cases.CITIES) for key in ("city", "tags"))
    return make([city, tags], 2, initializer=v1.constant_initializer(0.1))


def old_shared(features: Any) -> Any:
    return v1.feature_column.input_layer(features, _shared(v1.feature_column.shared_embedding_columns))


def new_shared(features: Any) -> Any:
    return DenseFeatures(_shared(fc.shared_embeddings))(features)


def new_shared_by_two_layers(features: Any) -> Any:
    columns = _shared(fc.shared_embeddings)
    return tf.concat([DenseFeatures(columns[:1])(features), DenseFeatures(columns[1:])(features)], axis=1)


@pytest.mark.parametrize(
    ("net", "table"),
    [
        (old_shared, "input_layer/city_tags_shared_embedding/embedding_weights"),
        (new_shared, "city_tags_shared_embedding"),
        (new_shared_by_two_layers, "city_tags_shared_embedding"),
    ],
)
def test_shared_embeddings_are_one_table_and_learn(tmp_path: Path, net: Net, table: str) -> None:
    est = lw.Estimator(model_of(net), str(tmp_path)).train(cases.features, steps=1)
    assert est.get_variable_names() == sorted([table, "global_step"])
    # The batch has "oslo" in both features, "rome" in both, "lima" in the tags alone. Gradients of
    # mean((output - 1)^2) over four rows whose output is the sum over both columns' embeddings.
    city, tags = np.eye(3)[[0, 1]], np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    share = tags + np.vstack([city, np.zeros((2, 3))])
    output = share @ np.full((3, 2), 0.1) @ np.ones(2)
    gradient = (2.0 * (output - 1.0) / 4.0) @ share
    expected = np.full((3, 2), 0.1) - 0.1 * gradient[:, None]
    np.testing.assert_allclose(est.get_variable_value(table), expected, rtol=1e-5)
    assert np.ptp(expected) > 0.01


def test_a_keras_model_counts_a_shared_embedding_once_among_its_weights(tmp_path: Path) -> None:
    counts = []

    def model_fn(features: Any, mode: str) -> Any:
        class Net(tf.keras.Model):
            def __init__(self) -> None:
                super().__init__(name="net")
                columns = _shared(fc.shared_embeddings)
                self.both = DenseFeatures(columns)
                own = fc.embedding_column(cases.categorical()["identity"], 2, initializer=v1.zeros_initializer())
                self.one = DenseFeatures([*columns[:1], own])

            def call(self, inputs: Any) -> Any:
                return tf.concat([self.both(inputs), self.one(inputs)], axis=1)

        net = Net()
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(net(features), axis=1) - 1.0))
        weights = [weight.value for weight in net.trainable_variables]
        counts.append([len(net.both.trainable_variables), len(net.one.trainable_variables), len(weights)])
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step(), var_list=weights)
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    est = lw.Estimator(model_fn, str(tmp_path)).train(cases.features, steps=1)
    assert counts == [[1, 2, 2]]
    table = "city_tags_shared_embedding"
    assert est.get_variable_names() == [table, "global_step", "net/dense_features_1/id_embedding/embedding_weights"]
    assert np.all(np.abs(est.get_variable_value(table) - 0.1) > 0.005)


def _sequential() -> tf.keras.Model:
    return tf.keras.Sequential([DenseFeatures([embedding(), number()]), tf.keras.layers.Dense(1)], name="net")


def _functional() -> tf.keras.Model:
    inputs = {"age": tf.keras.Input((1,), name="age"), "city": tf.keras.Input((1,), dtype="string", name="city")}
    columns = DenseFeatures([embedding(), number()])(inputs)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(columns), name="net")


@pytest.mark.parametrize("make", [_sequential, _functional])
def test_layers_in_a_keras_model_in_a_model_fn(tmp_path: Path, make: Callable[[], tf.keras.Model]) -> None:
    def input_fn() -> Any:
        features = {"age": np.float32([[0.1], [0.2]]), "city": np.array([["oslo"], ["lima"]])}
        return tf.data.Dataset.from_tensors(features).repeat(20)

    est = lw.Estimator(model_of(lambda features: make()(features)), str(tmp_path))
    before = est.train(input_fn, steps=1).evaluate(input_fn, steps=1)
    assert est.train(input_fn, steps=10).evaluate(input_fn, steps=1)["loss"] < before["loss"]
    assert "net/dense_features/city_embedding/embedding_weights" in est.get_variable_names()
    row = next(est.predict(input_fn, taps=["layers/net/dense_features/age"]))
    np.testing.assert_allclose(row["layers/net/dense_features/age"], [0.1])


def test_the_two_input_layers_of_an_old_program(tmp_path: Path) -> None:
    """Spelled as TensorFlow 1 spelled it, with both layers concatenated."""
    tf = tf1

    def input_fn() -> Any:
        features = {
            "age": np.float32([[20], [40], [60], [30]]),
            "city": np.array([["oslo"], ["rome"], ["lima"], ["?"]]),
        }
        labels = np.float32([[0], [1], [1], [0]])
        return tf.data.Dataset.from_tensor_slices((features, labels)).repeat(10).batch(4)

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        age = tf.feature_column.numeric_column("age")
        city = tf.feature_column.categorical_column_with_vocabulary_list("city", ["oslo", "rome", "lima"])
        numbers = tf.feature_column.input_layer(features, [age])
        words = tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(city)])
        net = tf.layers.dense(tf.concat([numbers, words], axis=1), 4, activation=tf.nn.relu)
        output = tf.layers.dense(net, 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"output": output})
        loss = tf.losses.mean_squared_error(labels, output)
        optimizer = tf.train.AdamOptimizer(params["learning_rate"])
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    est = tf.estimator.Estimator(model_fn, str(tmp_path), params={"learning_rate": 0.01})
    seen: list[Any] = []
    paths = ("layers/input_layer/age", "layers/input_layer_1/city_indicator")
    est.train(input_fn, steps=4, hooks=[lw.Watch(*paths, every=2, do=seen.append)])
    assert np.shape(seen[0][paths[0]]) == (4, 1)
    np.testing.assert_array_equal(seen[0][paths[1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert est.evaluate(input_fn)["global_step"] == 4
    row = next(est.predict(input_fn, taps=["layers/input_layer", "layers/input_layer_1/city_indicator"]))
    np.testing.assert_array_equal(row["layers/input_layer"], [20.0])
    np.testing.assert_array_equal(row["layers/input_layer_1/city_indicator"], [1.0, 0.0, 0.0])


def test_a_raw_categorical_column_is_told_how_to_go_on(tmp_path: Path) -> None:
    def net(features: Any) -> Any:
        city = fc.categorical_column_with_vocabulary_list("city", cases.CITIES)
        return v1.feature_column.input_layer(features, [fc.numeric_column("age"), city])

    with pytest.raises(ValueError, match="Items of feature_columns must be a _DenseColumn") as caught:
        lw.Estimator(model_of(net), str(tmp_path)).train(cases.features, steps=1)
    assert type(caught.value) is ValueError
    assert str(caught.value).endswith(
        "Lightwell: wrap the column 'city' with tf.feature_column.indicator_column(...) or "
        "embedding_column(..., dimension=...)"
    )
