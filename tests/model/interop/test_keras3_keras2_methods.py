"""Methods that Keras 3 does not have: there inside model_fn, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests.model.interop.builds import batches, classifier, estimator, keras, v1

import lightwell as lw

L = keras.layers
optimizers = keras.optimizers


def test_minimize_of_an_optimizer_counts_the_global_step(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        model = keras.Sequential([L.Dense(2)])
        loss = v1.losses.sparse_softmax_cross_entropy(labels, model(features["x"]))
        return lw.EstimatorSpec(mode, loss=loss, train_op=optimizers.SGD(0.1).minimize(loss, model.trainable_variables))

    est = estimator(tmp_path, model_fn)
    est.train(batches(), steps=3)
    assert est.get_variable_value("global_step") == 3


def test_gradients_of_a_tape_are_applied(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        model = keras.Sequential([L.Dense(2)])
        with tf.GradientTape() as tape:
            loss = v1.losses.sparse_softmax_cross_entropy(labels, model(features["x"]))
        train_op = None
        if mode == lw.ModeKeys.TRAIN:
            gradients = tape.gradient(loss, model.trainable_variables)
            step = optimizers.SGD(0.5).apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            train_op = tf.group(step, v1.assign_add(v1.train.get_global_step(), 1))
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    est = estimator(tmp_path, model_fn)
    est.train(batches(), steps=1)
    first = est.evaluate(batches(repeat=1))["loss"]
    est.train(batches(), steps=10)
    assert est.evaluate(batches(repeat=1))["loss"] < first
    assert est.get_variable_value("optimizer/sgd/iteration") == 11


def test_outside_they_are_not_there(tmp_path: Path) -> None:
    estimator(tmp_path, classifier(lambda x: L.Dense(2)(x))).train(batches(), steps=1)
    assert not hasattr(optimizers.SGD(0.1), "minimize")
    assert not hasattr(L.Dense(2), "get_updates_for")
    with pytest.raises(AttributeError, match="iterations"):
        optimizers.SGD(0.1).iterations = tf.Variable(0)


def test_a_layer_may_name_its_weight_first(tmp_path: Path) -> None:
    class Line(L.Layer):  # type: ignore[misc]
        def build(self, shape: Any) -> None:
            self.slope = self.add_weight("slope", shape=[int(shape[-1]), 2], initializer="ones", trainable=True)
            self.offset = self.add_weight("offset", [2], None, "zeros")

        def call(self, inputs: Any) -> Any:
            return tf.matmul(inputs, self.slope) + self.offset

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        loss = v1.losses.sparse_softmax_cross_entropy(labels, Line()(features["x"]))
        return lw.EstimatorSpec(mode, loss=loss, train_op=lw.minimize(optimizers.SGD(0.0), loss))

    est = estimator(tmp_path, model_fn)
    est.train(batches(), steps=1)
    assert {"line/slope", "line/offset"} <= set(est.get_variable_names())
    assert est.get_variable_value("line/slope").tolist() == [[1.0, 1.0]] * 6
