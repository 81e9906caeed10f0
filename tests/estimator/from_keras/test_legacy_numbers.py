"""An Estimator made of a tf_keras model gives the numbers that the model gives: trained, evaluated, predicting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.from_keras.models import KINDS, L, X, close, compiled, estimator, fit, keras, rows, sequential

import lightwell as lw

v1 = tf.compat.v1
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: "sgd",
    "adam": lambda: keras.optimizers.Adam(0.02),
    "legacy adam": lambda: keras.optimizers.legacy.Adam(0.02),
    "schedule": lambda: keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5)),
    "v1": lambda: v1.train.GradientDescentOptimizer(0.02),
}
COPIED = [kind for kind in KINDS if "subclassed" not in kind]


class FromConfig(keras.Model):
    """A subclassed model that can be made from its config."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.hidden, self.out = L.Dense(units, activation="relu"), L.Dense(2)

    def call(self, x: Any) -> Any:
        return self.out(self.hidden(x))

    def get_config(self) -> dict[str, Any]:
        return {"units": self.units}


def made(kind: str) -> Any:
    model = FromConfig(4) if kind == "subclassed" else KINDS[kind]()
    if kind == "subclassed":
        model(X[:2])
    return model


@pytest.mark.parametrize("kind", [kind for kind in [*COPIED, "subclassed"] if kind != "unbuilt"])
def test_every_kind_of_model_starts_trains_and_predicts_as_in_keras(tmp_path: Path, kind: str) -> None:
    model = compiled(made(kind))
    est = estimator(model, tmp_path)
    first = est.evaluate(rows)
    close(first, model.evaluate(rows(), verbose=0, return_dict=True))
    predicted = np.array([next(iter(row.values())) for row in est.predict(rows)])
    np.testing.assert_allclose(predicted, model.predict(X, verbose=0), rtol=1e-6, atol=1e-6)
    weights = model.get_weights()
    est.train(lambda: rows().repeat(5), steps=20)
    for now, before in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(now, before)
    fit(model, 5)
    assert est.evaluate(rows)["loss"] != first["loss"]
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))
    (key,) = next(iter(est.predict(rows)))
    assert key == ("output_1" if kind == "subclassed" else "out")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_keeps_its_settings_and_resumes(tmp_path: Path, name: str) -> None:
    model = compiled(sequential(), OPTIMIZERS[name]())
    est = estimator(model, tmp_path)
    est.train(lambda: rows().repeat(2), steps=7)
    est.train(lambda: rows().repeat(5).skip(7), steps=13)
    if name == "v1":  # Keras itself trains with it in graphs only
        compiled(model, keras.optimizers.SGD(0.02))
    fit(model, 5)
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))


def test_an_unbuilt_model_trains_and_stays_unbuilt(tmp_path: Path) -> None:
    model = compiled(KINDS["unbuilt"](), "adam")
    est = estimator(model, tmp_path)
    est.train(lambda: rows().repeat(10), steps=40)
    first, second = est.evaluate(rows), est.evaluate(rows)
    assert first == second
    assert {"dense/kernel", "out/kernel"} < set(est.get_variable_names())
    assert not model.built


def test_names_do_not_depend_on_what_the_program_made_before(tmp_path: Path) -> None:
    L.Dense(3)
    x = keras.Input((6,), name="x")
    left, right = L.Dense(3), L.Dense(3)
    model = compiled(keras.Model(x, L.Dense(2)(L.Add()([right(x), left(x)]))))
    est = estimator(model, tmp_path)
    est.train(rows, steps=1)
    assert {"dense/kernel", "dense_1/kernel", "dense_2/kernel"} < set(est.get_variable_names())
    row = next(iter(estimator(model, tmp_path / "untrained").predict(rows, taps=["layers/dense"])))
    np.testing.assert_allclose(row["layers/dense"], np.asarray(left(X[:1]))[0], rtol=1e-5)
    assert next(iter(row)) == model.output_names[0]


def test_a_fitted_model_brings_its_statistics_and_works_on(tmp_path: Path) -> None:
    model = compiled(sequential(), metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(1, name="top")])
    fit(model, 3)
    est = estimator(model, tmp_path)
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))
    est.train(rows, steps=2)
    fit(model)  # the class of the model is not left as graphs make it


def test_several_inputs_and_outputs(tmp_path: Path) -> None:
    a, b = keras.Input((6,), name="a"), keras.Input((3,), name="b")
    hidden = L.Concatenate()([L.Dense(3)(a), L.Dense(3)(b)])
    model = keras.Model([a, b], [L.Dense(1, name="p", kernel_regularizer="l2")(hidden), L.Dense(2, name="q")(hidden)])
    model.compile(
        "sgd",
        {"p": "mse", "q": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
        metrics={"p": ["mae"], "q": ["accuracy"]},
        loss_weights={"p": 0.5, "q": 2.0},
    )

    def data() -> Any:
        features = {"a": X, "b": X[:, :3]}
        labels = {"p": X[:, :1], "q": (X[:, 1] > 0).astype(np.int32)}
        return tf.data.Dataset.from_tensor_slices((features, labels)).batch(16)

    est = estimator(model, tmp_path)
    est.train(data, steps=4)
    model.fit(data(), shuffle=False, verbose=0)
    close(est.evaluate(data), model.evaluate(data(), verbose=0, return_dict=True))
    assert sorted(next(iter(est.predict(data)))) == ["p", "q"]


def test_a_subclassed_model_without_a_config_is_refused(tmp_path: Path) -> None:
    est = estimator(compiled(KINDS["subclassed"]()), tmp_path)
    with pytest.raises(lw.errors.UsageError, match="cannot be made anew for the graph of an Estimator") as told:
        est.evaluate(rows)
    assert "Let Subclassed have a get_config that gives the arguments of its __init__" in str(told.value)
