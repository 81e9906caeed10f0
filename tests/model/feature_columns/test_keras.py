"""The layers of columns in Keras 3 models: eagerly, in `fit`, functional and sequential."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.model.feature_columns import cases
from tests.model.feature_columns.programs import embedding, number

from lightwell.feature_columns import DenseFeatures, SequenceFeatures
from lightwell.model.interop.keras_scope import keras_in_model_fn

fc = tf.feature_column
FEATURES = {"age": np.float32([[1], [2], [3], [4]]), "city": np.array([["oslo"], ["rome"], ["?"], ["oslo"]])}
LABELS = np.float32([[0], [1], [1], [0]])


def batch() -> dict[str, tf.Tensor]:
    return {key: tf.constant(value) for key, value in FEATURES.items()}


def columns() -> list[Any]:
    return [number(), embedding(), fc.indicator_column(cases.categorical()["list"])]


def subclassed() -> keras.Model:
    class Net(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.columns = DenseFeatures(columns())
            self.out = keras.layers.Dense(1)

        def call(self, features: Any) -> Any:
            return self.out(self.columns(features))

    return Net()


def functional() -> keras.Model:
    inputs = {"age": keras.Input((1,), name="age"), "city": keras.Input((1,), dtype="string", name="city")}
    net = DenseFeatures(columns())(inputs)
    assert net.shape == (None, 6)
    return keras.Model(inputs, keras.layers.Dense(1)(net))


def sequential() -> keras.Model:
    return keras.Sequential([DenseFeatures(columns()), keras.layers.Dense(1)])


@pytest.mark.parametrize("make", [subclassed, functional, sequential])
def test_models_fit_and_predict(make: Any) -> None:
    model = make()
    model.compile(keras.optimizers.SGD(0.05), "mse")
    data = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(4).repeat(5)
    before = model.evaluate(data, verbose=0, steps=1)
    start = [weight.numpy() for weight in model.trainable_variables]
    model.fit(data, verbose=0, shuffle=False)
    assert model.evaluate(data, verbose=0, steps=1) < before
    assert all(np.any(new.numpy() != old) for new, old in zip(model.trainable_variables, start, strict=True))
    assert model.predict(data, verbose=0, steps=1).shape == (4, 1)


def test_eager_calls_give_what_the_columns_say() -> None:
    layer, outputs = DenseFeatures(columns()), dict[Any, Any]()
    result = layer(batch(), cols_to_output_tensors=outputs)
    table = layer.trainable_variables[0].numpy()
    found = np.stack([table[0], table[1], [0.0, 0.0], table[0]])
    expected = np.hstack([FEATURES["age"], found, [[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]]])
    # In the order of the columns' names: age, city_embedding, city_indicator.
    np.testing.assert_allclose(result, expected)
    assert [column.name for column in outputs] == [slot.name for slot in layer.slots]
    assert [(slot.start, slot.end) for slot in layer.slots] == [(0, 1), (1, 3), (3, 6)]
    assert layer.compute_output_shape(None) == (None, 6)


def test_sequences_in_a_functional_model() -> None:
    trip = keras.Input((None,), dtype="int64", sparse=True, name="trip_ids")
    column = fc.embedding_column(fc.sequence_categorical_column_with_identity("trip_ids", 3), 2)
    values, lengths = SequenceFeatures([column])({"trip_ids": trip})
    assert (values.shape, lengths.shape) == ((None, None, 2), (None,))
    model = keras.Model({"trip_ids": trip}, [values, lengths])
    given = tf.sparse.from_dense(tf.constant([[1, 2], [2, 0]], tf.int64))
    values, lengths = model({"trip_ids": given})
    assert values.shape == (2, 2, 2)
    np.testing.assert_array_equal(lengths, [2, 1])


def test_a_frozen_layer_and_a_frozen_column() -> None:
    frozen = DenseFeatures([embedding()], trainable=False)
    frozen(batch())
    assert (len(frozen.trainable_variables), len(frozen.non_trainable_variables)) == (0, 1)
    half = DenseFeatures([embedding(trainable=False), number()])
    half(batch())
    assert (len(half.trainable_variables), len(half.non_trainable_variables)) == (0, 1)


def test_a_layer_with_a_shared_embedding_serves_several_graphs() -> None:
    with tf.Graph().as_default():
        city, tags = (fc.categorical_column_with_vocabulary_list(key, cases.CITIES) for key in ("city", "tags"))
        layer = DenseFeatures([*fc.shared_embeddings([city, tags], 2), embedding()], name="mine")
    names = []
    for _ in range(2):
        with tf.Graph().as_default(), keras_in_model_fn("train"):
            layer(cases.features())
            variables = tf.compat.v1.global_variables()
            names.append(sorted(variable.op.name for variable in variables))
            assert all(any(weight.value is variable for variable in variables) for weight in layer.weights)
    assert names == [["city_tags_shared_embedding", "mine/city_embedding/embedding_weights"]] * 2


def test_pieces_of_a_partitioned_weight_are_weights() -> None:
    with tf.Graph().as_default(), keras_in_model_fn("train"):
        layer = DenseFeatures([embedding()], partitioner=tf.compat.v1.fixed_size_partitioner(2))
        with tf.compat.v1.variable_scope("net"):
            layer(cases.features())
        names = [variable.op.name for variable in tf.compat.v1.trainable_variables()]
        assert names == [f"net/dense_features/city_embedding/embedding_weights/part_{i}" for i in (0, 1)]
        assert [tuple(weight.shape) for weight in layer.trainable_variables] == [(2, 2), (1, 2)]


def test_numbers_keep_their_precision_until_the_column_casts() -> None:
    seen = []
    column = fc.numeric_column("age", dtype=tf.float64, normalizer_fn=lambda x: seen.append(x.dtype) or x)
    DenseFeatures([column])({"age": tf.constant([[1.0]], tf.float64)})
    assert seen == [tf.float64]
