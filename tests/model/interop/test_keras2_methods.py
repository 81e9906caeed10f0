"""A model_fn as TensorFlow's guides showed it: Keras' old methods answer as long as it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.interop.builds import LEGACY, X, batches, estimator, keras, v1

import lightwell as lw

L = keras.layers


def network() -> Any:
    regularised = L.Dense(8, activation="relu", kernel_regularizer=keras.regularizers.L2(0.01))
    return keras.Sequential([regularised, L.BatchNormalization(momentum=0.5), L.Dense(2, activity_regularizer="l2")])


def guide(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    model = network()
    training = mode == lw.ModeKeys.TRAIN
    logits = model(features["x"], training=training)
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions=logits)
    losses = model.get_losses_for(None) + model.get_losses_for(features["x"])
    assert len(losses) == 2
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits) + tf.math.add_n(losses)
    train_op = None
    if training:
        optimizer = (keras.optimizers.legacy if LEGACY else keras.optimizers).Adam()
        optimizer.iterations = v1.train.get_or_create_global_step()
        updates = model.get_updates_for(None) + model.get_updates_for(features["x"])
        assert len(updates) == len(model.updates) == 2
        train_op = tf.group(optimizer.get_updates(loss, model.trainable_variables)[0], *updates)
    return lw.EstimatorSpec(mode, logits, loss, train_op)


def test_the_guides_model_fn_runs(tmp_path: Path) -> None:
    est = estimator(tmp_path, guide)
    est.train(batches(64), steps=1)
    first = est.evaluate(batches(repeat=1))
    kernel, bias = (est.get_variable_value(f"sequential/dense/{name}") for name in ("kernel", "bias"))
    hidden = np.maximum(X @ kernel + bias, 0)
    mean = est.get_variable_value("sequential/batch_normalization/moving_mean")
    np.testing.assert_allclose(mean, 0.5 * hidden.mean(axis=0), atol=0.01)
    est.train(batches(), steps=30)
    assert est.get_variable_value("global_step") == 31
    assert est.evaluate(batches(repeat=1))["loss"] < first["loss"]


def test_a_v1_optimizer_takes_the_variables_of_a_keras_model(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        model = network()
        loss = v1.losses.sparse_softmax_cross_entropy(labels, model(features["x"]))
        optimizer = v1.train.AdamOptimizer(0.05)
        last = model.layers[-1].trainable_variables
        train_op = optimizer.minimize(loss, v1.train.get_global_step(), var_list=last)
        gradients = tf.gradients(loss, model.layers[0].trainable_variables)
        other = v1.train.GradientDescentOptimizer(0.1)
        second = other.apply_gradients(zip(gradients, model.layers[0].trainable_variables, strict=True))
        return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(train_op, second))

    est = estimator(tmp_path, model_fn)
    est.train(batches(), steps=1)
    kernel = est.get_variable_value("sequential/dense/kernel")
    est.train(batches(), steps=1)
    assert not np.array_equal(est.get_variable_value("sequential/dense/kernel"), kernel)
    slots = [name for name in est.get_variable_names() if name.endswith("/Adam")]
    assert sorted(slots) == ["sequential/dense_1/bias/Adam", "sequential/dense_1/kernel/Adam"]
