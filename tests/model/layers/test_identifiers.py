"""Names and callables for activations, initializers, regularizers and constraints."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError, WrongType
from lightwell.layers import identifiers

v1 = tf.compat.v1
VALUES = np.array([[-2.0, 0.5], [1.0, -0.25]], np.float32)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu", np.maximum(VALUES, 0)),
        ("exponential", np.exp(VALUES)),
        ("hard_sigmoid", np.clip(0.2 * VALUES + 0.5, 0, 1)),
        ("swish", VALUES / (1 + np.exp(-VALUES))),
        ("mish", VALUES * np.tanh(np.log1p(np.exp(VALUES)))),
        ("softsign", VALUES / (1 + np.abs(VALUES))),
    ],
)
def test_activations_by_name(name: str, expected: np.ndarray) -> None:
    function = identifiers.activation(name)
    assert function is not None
    with v1.Session() as session:
        np.testing.assert_allclose(session.run(function(tf.constant(VALUES))), expected, rtol=1e-5)


def test_linear_is_no_activation() -> None:
    assert identifiers.activation("linear") is identifiers.activation(None) is None


@pytest.mark.parametrize("name", sorted(identifiers._initializers()))
def test_every_named_initializer_makes_a_kernel(name: str) -> None:
    kernel = layers.dense(tf.ones([2, 3]), 3, kernel_initializer=name).kernel
    with v1.Session() as session:
        session.run(kernel.initializer)
        assert np.all(np.isfinite(session.run(kernel)))


def test_named_initializers_have_the_scale_their_name_promises() -> None:
    with v1.Session() as session:
        scales = {
            name: session.run(tf.math.reduce_std(identifiers.initializer(name)([400, 100], dtype=tf.float32)))
            for name in ("he_normal", "lecun_uniform", "uniform", "normal")
        }
    expected = {"he_normal": np.sqrt(2 / 400), "lecun_uniform": np.sqrt(1 / 400), "uniform": 0.1 / np.sqrt(12)}
    for name, scale in {**expected, "normal": 0.05}.items():
        assert scales[name] == pytest.approx(scale, rel=0.05)


def test_named_regularizers_and_constraints() -> None:
    weight = tf.constant(VALUES)
    with v1.Session() as session:
        losses = session.run([identifiers.regularizer(name)(weight) for name in ("l1", "l2", "l1_l2")])  # type: ignore[misc]
        kept, short, unit = session.run(
            [identifiers.constraint(name)(weight) for name in ("non_neg", "max_norm", "unit_norm")]  # type: ignore[misc]
        )
    np.testing.assert_allclose(losses, [0.0375, 0.053125, 0.090625], rtol=1e-5)
    np.testing.assert_allclose(kept, np.maximum(VALUES, 0))
    np.testing.assert_allclose(np.linalg.norm(short, axis=0), [2.0, np.hypot(0.5, 0.25)], rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=0), [1.0, 1.0], rtol=1e-5)


def test_objects_of_keras_are_callables_like_any_other() -> None:
    output = layers.dense(
        tf.ones([2, 3]),
        4,
        activation=tf.keras.activations.relu,
        kernel_initializer=tf.keras.initializers.HeNormal(seed=1),
        kernel_regularizer=tf.keras.regularizers.L2(0.5),
        kernel_constraint=tf.keras.constraints.NonNeg(),
    )
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        kernel, result, loss = session.run([output.kernel, output, v1.losses.get_regularization_loss()])
    np.testing.assert_allclose(result[0], np.maximum(kernel.sum(axis=0), 0), rtol=1e-5)
    assert loss == pytest.approx(0.5 * np.sum(kernel**2), rel=1e-5)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"activation: no activation is called 'rulu'\. Known names: elu, .*, relu, "):
        layers.dense(tf.ones([2, 3]), 2, activation="rulu")
    with pytest.raises(UsageError, match=r"initializer: no initializer is called 'bogus'.*Pass the function itself"):
        layers.dense(tf.ones([2, 3]), 2, kernel_initializer="bogus")


def test_wrong_types() -> None:
    with pytest.raises(WrongType, match=r"regularizer: expected a callable, a name or None, got 0\.1 of type float"):
        layers.dense(tf.ones([2, 3]), 2, kernel_regularizer=0.1)
    with pytest.raises(
        WrongType, match=r"constraint: expected a callable.*one of the names max_norm, non_neg, unit_norm"
    ):
        layers.dense(tf.ones([2, 3]), 2, kernel_constraint=1)
