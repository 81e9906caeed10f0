"""Losses that layers add are among the graph's regularisation losses: a weight's once, an activity's per call."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.interop.builds import X, built, keras, v1

L = keras.layers


def regularised(x: Any) -> Any:
    layer = L.Dense(3, kernel_regularizer=keras.regularizers.L2(0.5), kernel_initializer="ones")
    return layer(x), layer(x), layer.losses


def test_a_weight_counts_once_however_often_its_layer_is_called() -> None:
    build = built(regularised)
    losses = build.graph.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    (_, _, seen), total = build.runs(fetch=(build.outputs, losses))[0]
    np.testing.assert_allclose(total, [0.5 * 6 * 3])
    np.testing.assert_allclose(seen, [0.5 * 6 * 3])


def test_the_v1_functions_see_them() -> None:
    def network(x: Any) -> Any:
        regularised(x)
        v1.losses.mean_squared_error(tf.zeros([64, 6]), x)
        return v1.losses.get_regularization_loss(), v1.losses.get_total_loss()

    penalty, total = built(network).runs()[0]
    np.testing.assert_allclose(penalty, 9.0)
    np.testing.assert_allclose(total, 9.0 + np.mean(X**2), rtol=1e-5)


class AddsLoss(L.Layer):
    def call(self, x: Any) -> Any:
        self.add_loss(tf.reduce_sum(x))
        return x * 2


def test_what_calls_add_counts_for_each_call() -> None:
    def network(x: Any) -> Any:
        layer = AddsLoss()
        return layer(layer(x))

    build = built(network)
    losses = build.graph.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    np.testing.assert_allclose(build.runs(fetch=losses)[0], [X.sum(), 2 * X.sum()], rtol=1e-4)


def test_a_models_losses_are_those_of_its_layers() -> None:
    def network(x: Any) -> Any:
        model = keras.Sequential(
            [
                L.Dense(3, kernel_regularizer=keras.regularizers.L1(1.0), kernel_initializer="ones"),
                L.ActivityRegularization(l1=1.0),
                AddsLoss(),
            ]
        )
        model(x)
        return model.losses

    build = built(network)
    collected = build.graph.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    seen, found = build.runs(fetch=(build.outputs, collected))[0]
    assert len(seen) == 3
    np.testing.assert_allclose(sorted(seen), sorted(found), rtol=1e-5)


def test_layers_that_only_describe_a_model_add_nothing() -> None:
    def network(x: Any) -> Any:
        inputs = keras.Input((6,))
        keras.Model(inputs, L.ActivityRegularization(l1=1.0)(inputs))
        return x

    assert built(network).graph.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES) == []
