"""An Estimator made of a Keras 3 model gives the numbers that the model gives: trained, evaluated, predicting."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.from_keras.models import (
    KINDS,
    L,
    X,
    Y,
    close,
    compiled,
    estimator,
    fit,
    keras,
    rows,
    sequential,
    subclassed,
)

import lightwell as lw

v1 = tf.compat.v1
_LIKE_OTHERS = ("nested", "unbuilt")  # a functional and a sequential one
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: "sgd",
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=0.5),
    "adam": lambda: keras.optimizers.Adam(0.02),
    "adamw": lambda: keras.optimizers.AdamW(0.02, weight_decay=0.1),
    "averaged": lambda: keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=4),
    "schedule": lambda: keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5)),
}


@pytest.mark.parametrize(
    ("kind", "optimizer"),
    [
        pytest.param(
            kind, optimizer, marks=[] if optimizer == "adam" and kind not in _LIKE_OTHERS else [pytest.mark.slow]
        )
        for kind in KINDS
        for optimizer in ("sgd", "adam")
    ],
)
def test_every_kind_of_model_starts_trains_and_predicts_as_in_keras(tmp_path: Path, kind: str, optimizer: str) -> None:
    model = compiled(KINDS[kind](), OPTIMIZERS[optimizer]())
    est = estimator(model, tmp_path)
    first = est.evaluate(rows)
    close(first, model.evaluate(rows(), verbose=0, return_dict=True))
    weights = model.get_weights()
    est.train(lambda: rows().repeat(5), steps=20)
    for now, before in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(now, before)
    fit(model, 5)
    trained = est.evaluate(rows)
    assert trained["loss"] != first["loss"]
    close(trained, model.evaluate(rows(), verbose=0, return_dict=True))
    (key,) = next(iter(est.predict(rows)))
    assert key == ("output_1" if "subclassed" in kind else "out")
    predicted = np.array([row[key] for row in est.predict(rows)])
    np.testing.assert_allclose(predicted, model.predict(X, verbose=0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_those_of_the_model(tmp_path: Path, kind: str) -> None:
    model = compiled(KINDS[kind]())
    predicted = np.array([next(iter(row.values())) for row in estimator(model, tmp_path).predict(rows)])
    np.testing.assert_allclose(predicted, model.predict(X, verbose=0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_keeps_its_settings_and_resumes(tmp_path: Path, name: str) -> None:
    model = compiled(sequential(), OPTIMIZERS[name]())
    est = estimator(model, tmp_path)
    est.train(lambda: rows().repeat(2), steps=7)
    est.train(lambda: rows().repeat(5).skip(7), steps=13)
    fit(model, 5)
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))
    assert est.get_variable_value("global_step") == 20


class Halving(keras.optimizers.schedules.LearningRateSchedule):
    """A schedule that Keras does not know by name."""

    def __call__(self, step: Any) -> Any:
        return 0.1 * 0.5 ** keras.ops.cast(step, "float32")

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError


def test_a_schedule_of_ones_own_is_followed(tmp_path: Path) -> None:
    model = compiled(sequential(), keras.optimizers.SGD(Halving()))
    est = estimator(model, tmp_path)
    est.train(rows, steps=4)
    fit(model)
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))


def test_what_happens_to_the_model_afterwards_is_its_own_business(tmp_path: Path) -> None:
    model = compiled(sequential(), keras.optimizers.Adam(0.05))
    est = estimator(model, tmp_path)
    expected = model.evaluate(rows(), verbose=0, return_dict=True)
    fit(model, 3)
    model.optimizer.learning_rate = 7.0
    close(est.evaluate(rows), expected)
    assert model.evaluate(rows(), verbose=0, return_dict=True)["loss"] != pytest.approx(expected["loss"], abs=1e-3)
    fit(model)  # neither its metrics nor its optimizer are left in a graph
    assert np.isfinite(model.predict(X, verbose=0)).all()


def test_a_fitted_model_brings_its_statistics_and_not_the_state_of_its_optimizer(tmp_path: Path) -> None:
    model = compiled(sequential(), "adam")
    fit(model, 3)
    est = estimator(model, tmp_path)
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))
    est.train(rows, steps=1)
    assert est.get_variable_value("global_step") == 1
    moved = est.get_variable_value("out/bias/adam/momentum")
    gradient = _gradient_of_first_batch(model)
    np.testing.assert_allclose(moved, 0.1 * gradient, rtol=1e-4, atol=1e-6)  # as it would be after one step


def _gradient_of_first_batch(model: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y[:16], logits=model(X[:16], training=True))
        )
    return tape.gradient(loss, model.trainable_variables[-1].value)


def test_dropout_draws_anew_in_each_step_and_not_in_evaluation(tmp_path: Path) -> None:
    model = compiled(keras.Sequential([keras.Input((6,)), L.Dropout(0.5), L.Dense(2)]), keras.optimizers.SGD(0.0))
    est, seen = estimator(model, tmp_path), []
    watch = lw.Watch("loss", every=1, do=lambda now: seen.append(float(now["loss"])))
    est.train(lambda: rows().take(1).repeat(4), hooks=[watch])
    assert len(set(seen)) == 4
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))


def test_frozen_layers_stay(tmp_path: Path) -> None:
    model = sequential()
    model.layers[0].trainable = False
    model.layers[1].trainable = False
    compiled(model, keras.optimizers.SGD(0.5))
    before = [weight.copy() for weight in model.get_weights()]
    est = estimator(model, tmp_path)
    est.train(rows, steps=4)
    np.testing.assert_array_equal(est.get_variable_value("dense/kernel"), before[0])
    np.testing.assert_array_equal(est.get_variable_value("batch_normalization/moving_mean"), before[4])
    fit(model)
    np.testing.assert_allclose(est.get_variable_value("out/kernel"), model.get_weights()[6], rtol=1e-5, atol=1e-6)


class Counting(keras.layers.Layer):
    """A layer that adds a loss and keeps a metric of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.size = keras.metrics.Mean(name="size")

    def call(self, x: Any) -> Any:
        self.add_loss(0.1 * keras.ops.mean(keras.ops.square(x)))
        self.size.update_state(keras.ops.mean(keras.ops.abs(x)))
        return x


def error_of_mean(labels: Any, outputs: Any) -> Any:
    return keras.ops.mean(keras.ops.abs(keras.ops.cast(labels, "float32") - outputs[:, 0]))


def test_losses_and_metrics_of_layers_functions_and_objects_are_reported_by_name(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((6,)), L.Dense(4), Counting(), L.Dense(2)])
    top = keras.metrics.SparseTopKCategoricalAccuracy(1, name="top")
    compiled(model, metrics=["accuracy", top, error_of_mean], weighted_metrics=["accuracy"])
    model.evaluate(rows(), verbose=0)  # metrics that have counted before start at nothing all the same
    est = estimator(model, tmp_path)
    for _ in range(2):
        expected = model.evaluate(rows(), verbose=0, return_dict=True)
        assert {"accuracy", "top", "error_of_mean", "weighted_accuracy", "size"} < set(expected)
        close(est.evaluate(rows), expected)
        est.train(rows, steps=4)
        fit(model)


class OwnLoss(keras.Model):
    """A model that computes its loss itself."""

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        return super().compute_loss(x, y, y_pred, sample_weight) + keras.ops.mean(keras.ops.square(y_pred))


def test_a_loss_that_the_model_computes_itself_counts(tmp_path: Path) -> None:
    x = keras.Input((6,))
    model = compiled(OwnLoss(x, L.Dense(2)(x)), "adam")
    est = estimator(model, tmp_path)
    est.train(rows, steps=4)
    fit(model)
    close(est.evaluate(rows), model.evaluate(rows(), verbose=0, return_dict=True))


def test_loss_is_the_mean_over_batches_and_metrics_are_over_rows(tmp_path: Path) -> None:
    model = compiled(
        sequential(), metrics=["accuracy", keras.metrics.SparseCategoricalCrossentropy("xe", from_logits=True)]
    )
    found = estimator(model, tmp_path).evaluate(lambda: rows(24))
    parts = [model.evaluate(x, y, verbose=0, return_dict=True)["loss"] for x, y in rows(24)]
    assert found["loss"] == pytest.approx(np.mean(parts), rel=1e-5)
    expected = model.evaluate(rows(24), verbose=0, return_dict=True)
    assert found["xe"] == pytest.approx(expected["xe"], rel=1e-5)
    assert found["accuracy"] == expected["accuracy"]


def test_mixed_precision_trains(tmp_path: Path) -> None:
    keras.mixed_precision.set_dtype_policy("mixed_float16")
    try:
        model = compiled(keras.Sequential([keras.Input((6,)), L.Dense(4), L.Dense(2, dtype="float32")]), "sgd")
    finally:
        keras.mixed_precision.set_dtype_policy("float32")
    est = estimator(model, tmp_path)
    first = est.evaluate(rows)
    close(first, model.evaluate(rows(), verbose=0, return_dict=True), within=1e-3)
    est.train(lambda: rows().repeat(5), steps=20)
    assert est.evaluate(rows)["loss"] < first["loss"]


def test_layers_have_paths_in_every_mode(tmp_path: Path) -> None:
    est = estimator(compiled(KINDS["nested"]()), tmp_path)
    row = next(iter(est.predict(rows, taps=["layers/encoder/dense", "layers/out"])))
    np.testing.assert_array_equal(row["layers/out"], row["out"])
    seen: list[Any] = []
    est.train(rows, steps=2, hooks=[lw.Watch("layers/encoder/dense", "gradients/weights/*", every=1, do=seen.append)])
    assert seen[0]["layers/encoder/dense"].shape == (16, 4)
    assert "gradients/weights/encoder/dense/kernel" in list(seen[0])
    assert est.evaluate(rows, taps=["layers/encoder/dense"]).taps["layers/encoder/dense"].mean.shape == (4,)
    assert list(est.layers)[:2] == ["encoder/dense", "encoder"]
    assert "encoder/dense" in str(est.describe(rows))


def test_names_do_not_depend_on_what_the_program_made_before(tmp_path: Path) -> None:
    names = []
    for place in ("first", "second"):
        x = keras.Input((6,))
        left, right = L.Dense(3), L.Dense(3)
        model = keras.Model(x, L.Dense(2)(L.Add()([right(x), left(x)])))
        est = estimator(compiled(model, keras.optimizers.Adam()), tmp_path / place)
        est.train(rows, steps=1)
        names.append(est.get_variable_names())
        start = estimator(model, tmp_path / f"{place} untrained")
        start.train(rows, max_steps=1, hooks=[])
        # Numbered as written, not as called.
        tapped = next(iter(estimator(model, tmp_path / f"{place} tapped").predict(rows, taps=["layers/dense"])))
        np.testing.assert_allclose(tapped["layers/dense"], np.asarray(left(X[:1]))[0], rtol=1e-5)
    assert names[0] == names[1]
    assert "dense/kernel/adam/momentum" in names[0]


def test_a_second_process_reads_the_checkpoint(tmp_path: Path) -> None:
    est = estimator(compiled(subclassed(), "adam"), tmp_path)
    est.train(rows, steps=4)
    expected = est.evaluate(rows)
    again = estimator(compiled(KINDS["unbuilt subclassed"](), "adam"), tmp_path)  # other weights: the checkpoint counts
    assert again.evaluate(rows) == expected
    again.train(rows, steps=2)
    assert again.get_variable_value("global_step") == 6


V1_OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.01),
    "adam": lambda: v1.train.AdamOptimizer(0.01),
}


@pytest.mark.parametrize("name", V1_OPTIMIZERS)
def test_a_v1_optimizer_trains_the_model(tmp_path: Path, name: str) -> None:
    model = compiled(sequential(), keras.optimizers.SGD(0.01) if name == "sgd" else keras.optimizers.Adam(0.01))
    start = model.get_weights()
    fit(model, 5)
    expected = model.evaluate(rows(), verbose=0, return_dict=True)
    model.set_weights(start)
    model.optimizer = V1_OPTIMIZERS[name]()
    est = estimator(model, tmp_path)
    est.train(lambda: rows().repeat(2), steps=7)
    est.train(lambda: rows().repeat(5).skip(7), steps=13)
    # The two Adams add epsilon at different places.
    close(est.evaluate(rows), expected, within=1e-5 if name == "sgd" else 1e-3)


def test_nothing_is_left_of_the_graphs_of_past_calls(tmp_path: Path) -> None:
    model = compiled(KINDS["functional"](), "adam", metrics=[keras.metrics.SparseCategoricalAccuracy()])
    est, counts = estimator(model, tmp_path), []
    for _ in range(3):
        est.train(rows, steps=2)
        est.evaluate(rows)
        est.close()
        gc.collect()
        counts.append(sum(isinstance(thing, tf.Graph) for thing in gc.get_objects()))
    assert counts[1] == counts[2]
