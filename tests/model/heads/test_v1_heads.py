"""The base of heads in TensorFlow 1: a package's own head works on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell.compat.v1.estimator
import lightwell.estimator
from lightwell.model.heads.v1_heads import LossSpec, V1Head, binary_head, summary_key

v1 = tf.compat.v1


class Regression(V1Head):
    """A head as packages write it."""

    name = "regression"
    logits_dimension = 1

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        return LossSpec(logits - labels, [logits - labels], None, labels)


def test_a_head_brings_its_own_members() -> None:
    head = Regression()
    assert (head.name, head.logits_dimension) == ("regression", 1)
    assert head.create_loss({}, "train", 3, 1).training_loss == 2


def test_what_a_head_left_out_is_named() -> None:
    with pytest.raises(
        NotImplementedError, match=r"Regression is a head without `create_estimator_spec`: .* Write it in"
    ):
        Regression().create_estimator_spec({}, "train", 1)
    for member in ("name", "logits_dimension"):
        with pytest.raises(NotImplementedError, match=f"V1Head is a head without `{member}`"):
            getattr(V1Head(), member)
    with pytest.raises(NotImplementedError, match="V1Head is a head without `create_loss`"):
        V1Head().create_loss({}, "train", 1, 1)


def test_names_of_metrics() -> None:
    assert summary_key("my_head", "loss") == "loss/my_head"
    assert summary_key(None, "loss") == "loss"


class Own:
    """An optimizer as programs write one: no class of TensorFlow's, and no list of variables."""

    def minimize(self, loss: Any, global_step: Any) -> Any:
        return tf.strings.join(["counted with ", "nothing" if global_step is None else "a step"])


@pytest.mark.parametrize("counts", [False, True])
def test_the_train_op_is_what_the_optimizer_gave_with_a_counter_or_without(counts: bool) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        if counts:
            v1.train.create_global_step()
        logits, labels = tf.constant([[1.0], [2.0]]), tf.constant([[1], [0]])
        spec = binary_head().create_estimator_spec({}, "train", logits, labels, optimizer=Own())
        assert session.run(spec.train_op) == (b"counted with a step" if counts else b"counted with nothing")


# auc and auc_precision_recall of a LinearClassifier in tf.estimator 2.15.1 after one step, by face and labels.
ONE_SIDED = {
    ("v1", (0, 0, 0, 0)): (0.9999997615814209, 0.0),
    ("v1", (1, 1, 1, 1)): (0.0, 0.9999997615814209),
    ("v1", (0, 1, 0, 1)): (0.9999995231628418, 0.9999995231628418),
    ("v2", (0, 0, 0, 0)): (0.0, 0.0),
    ("v2", (1, 1, 1, 1)): (0.0, 1.0),
    ("v2", (0, 1, 0, 1)): (1.0, 1.0),
}


@pytest.mark.parametrize(("face", "labels"), ONE_SIDED)
def test_areas_of_labels_of_one_kind_are_those_of_each_face(face: str, labels: Any, tmp_path: Path) -> None:
    pages = {"v1": lightwell.compat.v1.estimator, "v2": lightwell.estimator}
    made = pages[face].LinearClassifier([tf.feature_column.numeric_column("x")], model_dir=str(tmp_path))

    def data(y: Any) -> Any:
        x = np.array([[0.1], [0.5], [-0.3], [0.9]], np.float32)
        return lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, np.array(y, np.int64))).batch(2)

    made.train(data([0, 1, 1, 0]), steps=1)
    metrics = made.evaluate(data(labels))
    assert (metrics["auc"], metrics["auc_precision_recall"]) == pytest.approx(ONE_SIDED[face, labels], abs=1e-9)
