"""What every head does, on both faces: its cases train, resume, are evaluated and predicted, with every optimizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.model.heads.cases import CASES, KINDS, Case
from tests.model.heads.measure import dataset, model_fn

import lightwell as lw
from lightwell.compat.v1 import estimator as v1_face

v1 = tf.compat.v1
FACES = {"v1": v1_face, "v2": lw.estimator}
OPTIMIZERS: dict[str, Any] = {
    "v1": lambda: v1.train.AdagradOptimizer(0.1),
    "keras": lambda: keras.optimizers.SGD(0.1),
    "keras with a schedule": lambda: keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.5)),
}


def _model(case: Case, **how: Any) -> Any:
    def model(features: Any, labels: Any, mode: str) -> Any:
        head = case.head(lw)
        logits = lw.layers.dense(features["x"], head.logits_dimension, name="top")
        given = {key: make() for key, make in how.items()} if mode == "train" else {}
        return head.create_estimator_spec(features, mode, logits, labels, **given)

    return model


@pytest.mark.slow  # the life of a head is led in the contracts of ready-made models, too
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", KINDS)
def test_train_evaluate_predict_resume(name: str, face: str, tmp_path: Path) -> None:
    lib, case = FACES[face], CASES[name]
    estimator = lib.Estimator(model_fn(lib, case, "sgd"), str(tmp_path))
    estimator.train(lambda: dataset(case).repeat(), steps=3)
    before = estimator.evaluate(lambda: dataset(case))
    again = lib.Estimator(model_fn(lib, case, "sgd"), str(tmp_path))
    assert again.evaluate(lambda: dataset(case)) == before
    again.train(lambda: dataset(case).repeat(), steps=30)
    after = again.evaluate(lambda: dataset(case))
    assert (before["global_step"], after["global_step"]) == (3, 33)
    assert after["loss"] < before["loss"]
    rows = list(again.predict(lambda: dataset(case).map(lambda features, labels: features)))
    assert len(rows) == 8
    assert set(rows[0]) == set(case.head(lib).predictions(np.zeros((1, case.head(lib).logits_dimension), np.float32)))


def _is_usual(name: str, kind: str) -> bool:
    """Every optimizer with one head, and the fullest of them with several."""
    return name == "binary" or (name, kind) == ("several heads", "keras with a schedule")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[] if _is_usual(name, kind) else [pytest.mark.slow])
        for name in KINDS
        for kind in OPTIMIZERS
    ],
)
def test_every_optimizer(name: str, kind: str, tmp_path: Path) -> None:
    how = {"optimizer": OPTIMIZERS[kind]}
    if kind != "v1":
        how["trainable_variables"] = v1.trainable_variables
    estimator = lw.Estimator(_model(CASES[name], **how), str(tmp_path))
    estimator.train(lambda: dataset(CASES[name]).repeat(), steps=1)
    first = estimator.evaluate(lambda: dataset(CASES[name]))
    estimator.train(lambda: dataset(CASES[name]).repeat(), steps=20)
    last = estimator.evaluate(lambda: dataset(CASES[name]))
    assert last["loss"] < first["loss"]
    assert last["global_step"] == 21


@pytest.mark.parametrize("name", KINDS)
def test_paths(name: str, tmp_path: Path) -> None:
    """What a head gives has paths as in any model; watching changes nothing."""
    case = CASES[name]
    model = _model(case, optimizer=lambda: v1.train.GradientDescentOptimizer(0.1))
    seen: list[Any] = []
    config = lw.RunConfig(tf_random_seed=5)
    watched = lw.Estimator(model, str(tmp_path / "watched"), config)
    watch = lw.Watch("loss", "layers/top", "gradients/weights/top/kernel", every=2, do=seen.append)
    watched.train(lambda: dataset(case).repeat(), steps=6, hooks=[watch])
    plain = lw.Estimator(model, str(tmp_path / "plain"), config).train(lambda: dataset(case).repeat(), steps=6)
    assert len(seen) >= 3
    assert watched.evaluate(lambda: dataset(case)) == plain.evaluate(lambda: dataset(case))


@pytest.mark.parametrize("name", KINDS)
def test_in_a_function_of_tensorflow(name: str) -> None:
    """A training loop of one's own, without an Estimator."""
    case = CASES[name]
    head = case.head(lw)
    kernel = tf.Variable(tf.ones([3, head.logits_dimension]) * 0.1)
    metrics = head.metrics()

    @tf.function
    def step(features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.matmul(features["x"], kernel)
            loss = head.loss(labels, logits, features=features, mode=lw.ModeKeys.TRAIN)
        kernel.assign_sub(0.1 * tape.gradient(loss, kernel))
        head.update_metrics(metrics, features, logits, labels)
        return loss

    losses = [float(step(*batch)) for batch in dataset(case).repeat(10)]
    assert losses[-1] < losses[1]
    known = [key for key in metrics if key.startswith("average_loss")]
    assert known
    if len(known) == 1:
        assert float(metrics[known[0]].result()) == pytest.approx(np.mean(losses), rel=1e-5)
    metrics[known[0]].reset_state()
    assert float(metrics[known[0]].result()) == 0.0


def test_names_in_a_function_of_tensorflow() -> None:
    head = lw.MultiClassHead(3, label_vocabulary=["a", "b", "c"])
    loss = tf.function(lambda labels, logits: head.loss(labels, logits))
    logits = tf.constant([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    expected = lw.MultiClassHead(3).loss([0, 1], logits)
    for _ in range(2):
        assert float(loss(tf.constant(["a", "b"]), logits)) == pytest.approx(float(expected))


def test_metrics_of_several_heads_keep_every_batch() -> None:
    head = lw.MultiHead([lw.BinaryClassHead(name="a"), lw.RegressionHead(name="b")])
    metrics = head.metrics()
    for value in (1.0, 0.0):
        logits = np.full((4, 2), value, np.float32)
        labels = {"a": np.full(4, int(value)), "b": np.full(4, value)}
        metrics = head.update_metrics(metrics, {}, logits, labels)
    assert float(metrics["label/mean/a"].result()) == 0.5
    assert float(metrics["prediction/mean/b"].result()) == 0.5


@pytest.mark.parametrize("rows", [[[0], [0, 2], [], [1]], [["a"], ["a", "c"], [], ["b"]]])
def test_ragged_labels(rows: list[list[Any]], tmp_path: Path) -> None:
    words = ["a", "b", "c"] if isinstance(rows[0][0], str) else None
    head = lw.MultiLabelHead(3, label_vocabulary=words)
    hot = np.array([[1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 1, 0]])
    logits = np.arange(12, dtype=np.float32).reshape(4, 3)
    ragged = tf.ragged.constant(rows, dtype=tf.string if words else tf.int64)
    assert float(head.loss(ragged, logits)) == pytest.approx(float(head.loss(hot, logits)))

    def data() -> Any:
        ragged = tf.ragged.constant(rows, dtype=tf.string if words else tf.int64)
        return tf.data.Dataset.from_tensor_slices(({"x": logits}, ragged)).batch(2)

    def model(features: Any, labels: Any, mode: str) -> Any:
        return lw.MultiLabelHead(3, label_vocabulary=words).create_estimator_spec(
            features,
            mode,
            lw.layers.dense(features["x"], 3, kernel_initializer=_identity),
            labels,
            optimizer=v1.train.GradientDescentOptimizer(0.0),
        )

    estimator = lw.Estimator(model, str(tmp_path)).train(data, steps=2)
    assert estimator.evaluate(data)["average_loss"] == pytest.approx(float(head.loss(hot, logits)), rel=1e-5)


def _identity(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
    return tf.eye(*shape, dtype=dtype)


def test_moving_statistics_are_updated(tmp_path: Path) -> None:
    """Those in UPDATE_OPS with any optimizer, and the ops that `update_ops` names."""
    case = CASES["numbers"]

    def model(features: Any, labels: Any, mode: str) -> Any:
        head = lw.RegressionHead(2)
        counted = v1.get_variable("counted", [], trainable=False, initializer=v1.zeros_initializer())
        inner = lw.layers.batch_normalization(features["x"] + 5.0, training=mode == "train", momentum=0.5)
        return head.create_estimator_spec(
            features,
            mode,
            lw.layers.dense(inner, 2),
            labels,
            optimizer=keras.optimizers.SGD(0.1),
            trainable_variables=v1.trainable_variables(),
            update_ops=[counted.assign_add(2.0)],
        )

    estimator = lw.Estimator(model, str(tmp_path)).train(lambda: dataset(case).repeat(), steps=8)
    assert np.all(estimator.get_variable_value("batch_normalization/moving_mean") > 3)
    assert estimator.get_variable_value("counted") == 16


def test_summaries_of_a_training(tmp_path: Path) -> None:
    case = CASES["several heads"]
    config = lw.RunConfig(save_summary_steps=1)
    lw.Estimator(model_fn(lw, case, "sgd"), str(tmp_path), config).train(lambda: dataset(case), steps=1)
    tags = {
        value.tag
        for file in tmp_path.glob("events*")
        for event in v1.train.summary_iterator(str(file))
        for value in event.summary.value
    }
    assert {"loss", "loss/click", "loss/price", "regularization_loss"} <= tags
