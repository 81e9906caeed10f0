"""Heads that users write: derived from `Head`, or from one of the heads that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(512, 2).astype(np.float32)
Y = X[:, :1] * 2 + np.random.RandomState(1).randn(512, 1).astype(np.float32)


class Quantile(lw.Head):
    """As in the docstring of `Head`."""

    name, logits_dimension, loss_reduction = "p90", 1, "sum_over_batch_size"  # type: ignore[assignment]

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        error = labels - logits
        loss = tf.reduce_mean(tf.maximum(0.9 * error, -0.1 * error))
        return loss + tf.add_n(regularization_losses or [0.0])

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        return {"p90": logits}

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        return {"coverage": keras.metrics.Mean()}

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        eval_metrics["coverage"].update_state(labels <= logits)
        return eval_metrics


class Measured(lw.BinaryClassHead):
    """A head that is there, with a metric more and another loss."""

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        return 2 * super().loss(labels, logits, features, mode, regularization_losses)

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        return {**super().metrics(regularization_losses), "largest": keras.metrics.Sum()}

    def update_metrics(
        self, eval_metrics: dict[str, Any], features: Any, logits: Any, labels: Any, regularization_losses: Any = None
    ) -> dict[str, Any]:
        eval_metrics["largest"].update_state(tf.reduce_max(logits))
        return super().update_metrics(eval_metrics, features, logits, labels, regularization_losses)


def _data(labels: Any = Y) -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, labels)).batch(64)


def _model(head: lw.Head) -> Any:
    def model(features: Any, labels: Any, mode: str) -> Any:
        logits = lw.layers.dense(features["x"], head.logits_dimension)
        return head.create_estimator_spec(
            features,
            mode,
            logits,
            labels,
            optimizer=keras.optimizers.Adam(0.05),
            trainable_variables=v1.trainable_variables(),
        )

    return model


def test_a_head_of_ones_own(tmp_path: Path) -> None:
    estimator = lw.Estimator(_model(Quantile()), str(tmp_path))
    estimator.train(lambda: _data().repeat(), steps=300)
    result = estimator.evaluate(_data)
    assert result["coverage"] == pytest.approx(0.9, abs=0.04)
    rows = list(estimator.predict(_data))
    assert len(rows) == 512
    assert np.mean(Y[:, 0] <= [row["p90"][0] for row in rows]) == pytest.approx(result["coverage"], abs=1e-6)


def test_its_signatures() -> None:
    with tf.Graph().as_default():
        spec = Quantile().create_estimator_spec({}, lw.ModeKeys.PREDICT, tf.constant([[1.0]]))
        assert list(spec.export_outputs) == ["serving_default", "predict"]
        assert spec.export_outputs["predict"].outputs == spec.predictions


def test_its_summary_has_its_name(tmp_path: Path) -> None:
    config = lw.RunConfig(save_summary_steps=1)
    lw.Estimator(_model(Quantile()), str(tmp_path), config).train(_data, steps=1)
    (file,) = tmp_path.glob("events*")
    tags = {value.tag for event in v1.train.summary_iterator(str(file)) for value in event.summary.value}
    assert "loss/p90" in tags


def test_beside_others(tmp_path: Path) -> None:
    head = lw.MultiHead([Quantile(), lw.BinaryClassHead(name="sign")])
    estimator = lw.Estimator(_model(head), str(tmp_path))
    labels = {"p90": Y, "sign": (Y > 0).astype(np.int64)}
    estimator.train(lambda: _data(labels).repeat(), steps=300)
    result = estimator.evaluate(lambda: _data(labels))
    assert result["coverage"] == pytest.approx(0.9, abs=0.04)
    assert result["accuracy/sign"] > 0.8
    row = next(iter(estimator.predict(lambda: _data(labels))))
    assert set(row) > {("p90", "p90"), ("sign", "probabilities")}


def test_derived_from_one_that_is_there(tmp_path: Path) -> None:
    labels = (Y > 0).astype(np.int64)
    estimator = lw.Estimator(_model(Measured()), str(tmp_path))
    estimator.train(lambda: _data(labels).repeat(), steps=20)
    result = estimator.evaluate(lambda: _data(labels))
    assert result["loss"] == pytest.approx(2 * result["average_loss"], rel=1e-5)
    assert "largest" in result
    assert "auc" in result


def test_metrics_that_are_called_alike() -> None:
    class Nameless(Quantile):
        name = "other"  # type: ignore[assignment]

    with pytest.raises(ValueError, match=r"the metrics \['coverage'\] of Nameless 'other' are called like those of"):
        lw.MultiHead([Quantile(), Nameless()]).metrics()


def test_under_the_old_names(tmp_path: Path) -> None:
    with lw.install():
        assert tf.estimator.BinaryClassHead is lw.BinaryClassHead
        assert tf.compat.v1.estimator.Head is lw.Head
        from tensorflow_estimator.python.estimator.head.base_head import Head
        from tensorflow_estimator.python.estimator.head.head_utils import binary_or_multi_class_head
        from tensorflow_estimator.python.estimator.head.regression_head import PoissonRegressionHead

        assert (Head, PoissonRegressionHead) == (lw.Head, lw.PoissonRegressionHead)
        assert isinstance(binary_or_multi_class_head(2, None, None, "sum"), lw.BinaryClassHead)
        assert isinstance(binary_or_multi_class_head(4, None, None, "sum"), lw.MultiClassHead)


def test_a_head_trains_in_a_graph_without_a_counter() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        optimizer = keras.optimizers.SGD(0.5)
        spec = lw.RegressionHead().create_estimator_spec(
            {}, "train", w * [[2.0]], labels=tf.constant([[0.0]]), optimizer=optimizer, trainable_variables=[w]
        )
        session.run(v1.global_variables_initializer())
        session.run(spec.train_op)
        assert session.run(w) == 1 - 0.5 * 8
        assert v1.train.get_global_step() is None


@pytest.mark.parametrize(
    ("weights", "fits"),
    [([1.0, 3.0], True), ([[1.0], [3.0]], True), ([[1.0, 1.0], [1.0, 1.0]], False), ([[1.0]], False)],
)
def test_shapes_that_only_a_step_knows_are_judged_by_it(weights: Any, fits: bool) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        logits, labels, weight = (v1.placeholder(tf.float32) for _ in range(3))
        loss = lw.RegressionHead(weight_column="w").loss(labels, logits, {"w": weight}, "eval")
        given = {logits: [[2.0], [4.0]], labels: [[0.0], [0.0]], weight: weights}
        if fits:
            assert session.run(loss, given) == (4 * 1 + 16 * 3) / 2
            return
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"weights shape must be .*logits_shape: unknown"):
            session.run(loss, given)


@pytest.mark.parametrize(
    ("head", "labels", "text"),
    [
        (lw.MultiClassHead(3), [[3], [0]], r"Got \[3\]"),
        (lw.RegressionHead(), [[1.0, 2.0]], "Expected labels dimension=1"),
        (lw.RegressionHead(), [[1.0], [2.0], [3.0]], "labels_shape"),
    ],
)
def test_labels_that_do_not_fit_are_an_invalid_argument_too(head: Any, labels: Any, text: str) -> None:
    logits = tf.ones([2, head.logits_dimension])
    for kind in (ValueError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match=text):
            head.loss(tf.constant(labels), logits, {}, "eval")
