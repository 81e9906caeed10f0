"""Batch normalization written out: against NumPy, where the recorded contract has no number."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from lightwell import layers

v1 = tf.compat.v1
VALUES = np.random.default_rng(1).normal(size=[6, 3]).astype(np.float32)


def test_groups_are_normalised_apart() -> None:
    outputs = layers.batch_normalization(tf.constant(VALUES), training=True, virtual_batch_size=2)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        measured = session.run(outputs)
    grouped = VALUES.reshape(2, 3, 3)
    expected = (grouped - grouped.mean(axis=0)) / np.sqrt(grouped.var(axis=0) + 1e-3)
    np.testing.assert_allclose(measured, expected.reshape(6, 3), rtol=1e-4, atol=1e-5)


def test_renormalization_starts_from_the_initial_variance() -> None:
    layer = layers.BatchNormalization(renorm=True, moving_variance_initializer=v1.constant_initializer(4.0))
    layer(tf.constant(VALUES), training=True)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run([layer.moving_stddev, layer.renorm_stddev])[0].tolist() == [2.0, 2.0, 2.0]


def test_renormalization_without_drift_is_plain_normalization() -> None:
    mean, deviation = VALUES.mean(axis=0), np.sqrt(VALUES.var(axis=0) + 1e-3)
    layer = layers.BatchNormalization(renorm=True)
    outputs = layer(tf.constant(VALUES), training=True)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        layer.renorm_mean.load(mean, session)
        layer.renorm_stddev.load(deviation, session)
        np.testing.assert_allclose(session.run(outputs), (VALUES - mean) / deviation, rtol=1e-4, atol=1e-5)
