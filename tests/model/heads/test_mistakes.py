"""What a head says to arguments, labels, logits and weights that cannot be; the original's words are in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
ONE = np.array([[1.0], [-2.0], [0.5]], np.float32)
THREE = np.eye(3, dtype=np.float32)
Make = Callable[[], Any]


def _fn(labels: Any, logits: Any, more: Any) -> Any:
    return logits


ARGUMENTS: dict[str, tuple[Make, type[Exception]]] = {
    "thresholds not in (0, 1): (0.5, 1.0)": (lambda: lw.BinaryClassHead(thresholds=[0.5, 1.0]), ValueError),
    "thresholds must be in (0, 1) range. Given: 0.0": (lambda: lw.MultiLabelHead(2, thresholds=[0.0]), ValueError),
    "object is not iterable": (lambda: lw.BinaryClassHead(thresholds=0.5), TypeError),  # type: ignore[arg-type]
    "thresholds must be numbers between 0 and 1, got 'a'": (
        lambda: lw.BinaryClassHead(thresholds=["a"]),  # type: ignore[list-item]
        TypeError,
    ),
    "label_vocabulary should be a list or a tuple. Given type: <class 'str'>": (
        lambda: lw.BinaryClassHead(label_vocabulary="ab"),
        ValueError,
    ),
    "label_vocabulary should be a list of strings, one for each class, got [1, 2]": (
        lambda: lw.BinaryClassHead(label_vocabulary=[1, 2]),  # type: ignore[list-item]
        ValueError,
    ),
    "label_vocabulary has ['b'] more than once": (
        lambda: lw.MultiClassHead(3, label_vocabulary=["a", "b", "b"]),
        ValueError,
    ),
    '"label_vocabulary" does not have "n_classes" items': (
        lambda: lw.MultiClassHead(3, label_vocabulary=["a", "b"]),
        ValueError,
    ),
    "Length of label_vocabulary must be n_classes (3). Given: 2": (
        lambda: lw.MultiLabelHead(3, label_vocabulary=["a", "b"]),
        ValueError,
    ),
    "Invalid loss_reduction: none. See `tf.losses.Reduction` for valid options": (
        lambda: lw.RegressionHead(loss_reduction="none"),
        ValueError,
    ),
    "loss_fn must contain argument: labels. Given arguments: ('a', 'b')": (
        lambda: lw.BinaryClassHead(loss_fn=lambda a, b: a),
        ValueError,
    ),
    "loss_fn has unexpected args: ['more']": (lambda: lw.BinaryClassHead(loss_fn=_fn), ValueError),
    "loss_fn must be a function, got 3": (lambda: lw.BinaryClassHead(loss_fn=3), TypeError),  # type: ignore[arg-type]
    "n_classes must be > 2: 2. For two classes there is BinaryClassHead": (lambda: lw.MultiClassHead(2), ValueError),
    "n_classes cannot be None": (lambda: lw.MultiClassHead(None), ValueError),  # type: ignore[arg-type]
    "n_classes must be a whole number, got 2.5": (lambda: lw.MultiClassHead(2.5), TypeError),  # type: ignore[arg-type]
    "n_classes must be > 1 for multi-label classification. Given: 1": (lambda: lw.MultiLabelHead(1), ValueError),
    "All classes_for_class_based_metrics must be in range [0, 2]. Given: 5": (
        lambda: lw.MultiLabelHead(3, classes_for_class_based_metrics=[0, 5]),
        ValueError,
    ),
    "label_vocabulary must be provided when classes_for_class_based_metrics are strings": (
        lambda: lw.MultiLabelHead(3, classes_for_class_based_metrics=["a"]),
        ValueError,
    ),
    "'z' is not in list label_vocabulary": (
        lambda: lw.MultiLabelHead(2, label_vocabulary=["a", "b"], classes_for_class_based_metrics=["z"]),
        ValueError,
    ),
    "Invalid label_dimension 0": (lambda: lw.RegressionHead(0), ValueError),
    "label_dimension must be a whole number, got 1.5": (lambda: lw.RegressionHead(1.5), TypeError),  # type: ignore[arg-type]
    "inverse_link_fn must be a function of the logits, got 3": (
        lambda: lw.RegressionHead(inverse_link_fn=3),  # type: ignore[arg-type]
        TypeError,
    ),
    "Must specify heads. Given: []": (lambda: lw.MultiHead([]), ValueError),
    "All given heads must have name specified": (lambda: lw.MultiHead([lw.BinaryClassHead()]), ValueError),
    "the heads must have different names, got ['a', 'a']": (
        lambda: lw.MultiHead([lw.BinaryClassHead(name="a"), lw.RegressionHead(name="a")]),
        ValueError,
    ),
    "heads and head_weights must have the same size. Given len(heads): 1. Given len(head_weights): 2": (
        lambda: lw.MultiHead([lw.BinaryClassHead(name="a")], [1.0, 2.0]),
        ValueError,
    ),
    "The loss_reduction must be the same for different heads. Given: ['sum_over_batch_size', 'sum']": (
        lambda: lw.MultiHead([lw.BinaryClassHead(name="a"), lw.RegressionHead(loss_reduction="sum", name="b")]),
        ValueError,
    ),
    "heads must be a list of Head, got 3": (lambda: lw.MultiHead([3]), TypeError),  # type: ignore[list-item]
    "abstract": (lambda: lw.Head(), TypeError),  # type: ignore[abstract]
}


@pytest.mark.parametrize("text", ARGUMENTS)
def test_arguments(text: str) -> None:
    make, kind = ARGUMENTS[text]
    with pytest.raises(kind, match=re.escape(text)):
        make()


def _several() -> lw.MultiHead:
    return lw.MultiHead([lw.BinaryClassHead(name="a"), lw.MultiClassHead(3, name="b")])


def _weighted(weights: Any, **more: Any) -> Make:
    return lambda: lw.BinaryClassHead(weight_column="w", **more).loss([1, 0, 1], ONE, features=weights)


_SPARSE = tf.SparseTensor([[0, 0], [1, 0]], np.array([0, 7], np.int64), [3, 1])
_SPARSE_NAMES = tf.SparseTensor([[0, 0], [1, 0]], ["a", "z"], [3, 1])

GIVEN: dict[str, Make] = {
    "MultiClassHead: Label IDs must < n_classes. Labels must be <= 3 - 1 and Labels must be >= 0: from 0 to 2. "
    "Check n_classes and the labels that input_fn gives. Got [3, 7].": (
        lambda: lw.MultiClassHead(3).loss([3, 1, 7], THREE)
    ),
    "BinaryClassHead 'click': Label IDs must < n_classes. Labels must be <= 2 - 1": (
        lambda: lw.BinaryClassHead(name="click").loss([1, 2, 0], ONE)
    ),
    "Got [-1.0].": lambda: lw.BinaryClassHead().loss([1, -1, 0], ONE),
    "Labels must be >= 0, as places in label_vocabulary (an unknown label is -1)": (
        lambda: lw.BinaryClassHead(label_vocabulary=["a", "b"]).loss(np.array(["a", "b", "z"]), ONE)
    ),
    "It has 3 entries: a, b, c. Got ['z'].": (
        lambda: lw.MultiClassHead(3, label_vocabulary=["a", "b", "c"]).loss(np.array(["a", "b", "z"]), THREE)
    ),
    "Labels must be in range [0, 1]. Scale them in input_fn. Got [1.5].": (
        lambda: lw.LogisticRegressionHead().loss([1.0, 1.5, 0.0], ONE)
    ),
    "labels must be an integer indicator Tensor with values in [0, 1]": (
        lambda: lw.MultiLabelHead(3).loss([[0, 1, 2]] * 3, THREE)
    ),
    "labels must be an integer SparseTensor with values in [0, 3). Got [7].": (
        lambda: lw.MultiLabelHead(3).loss(_SPARSE, THREE)
    ),
    "the labels are strings, and the head has no label_vocabulary": (
        lambda: lw.MultiLabelHead(3).loss(_SPARSE_NAMES, THREE)
    ),
    "entries: a, b, c. Got ['z']": (
        lambda: lw.MultiLabelHead(3, label_vocabulary=["a", "b", "c"]).loss(_SPARSE_NAMES, THREE)
    ),
    "Labels dtype should be integer. Instead got <dtype: 'float32'>": (
        lambda: lw.MultiLabelHead(3).loss(tf.cast(_SPARSE, tf.float32), THREE)
    ),
    "labels of strings must be a SparseTensor or a RaggedTensor": (
        lambda: lw.MultiLabelHead(3).loss(np.full((3, 3), "a"), THREE)
    ),
    "cast them in input_fn with tf.cast(labels, tf.int64)": lambda: lw.MultiClassHead(3).loss([0.0, 1.0, 2.0], THREE),
    "give the head a label_vocabulary for labels that are strings": (
        lambda: lw.MultiClassHead(3).loss(np.array(["a", "b", "c"]), THREE)
    ),
    "Labels dtype should be string if there is a vocabulary. Instead got <dtype: 'int32'>": (
        lambda: lw.MultiClassHead(3, label_vocabulary=["a", "b", "c"]).loss(tf.constant([0, 1, 2]), THREE)
    ),
    "the labels must be numbers, got strings": lambda: lw.RegressionHead().loss(np.array(["a", "b", "c"]), ONE),
    "You must provide a labels Tensor. Given: None": lambda: lw.BinaryClassHead().loss(None, ONE),
    "labels must be a Tensor, got a dict with ['y']": lambda: lw.BinaryClassHead().loss({"y": [1]}, ONE),
    "SparseTensor labels are not supported. Labels must be a Tensor of shape [D0, D1, ..., DN, 1]": (
        lambda: lw.BinaryClassHead().loss(_SPARSE, ONE)
    ),
    "RaggedTensor labels are not supported": (
        lambda: lw.MultiClassHead(3).loss(tf.ragged.constant([[1], [2], [0]]), THREE)
    ),
    "Mismatched label shape. Expected labels dimension=1.  Received 3": (
        lambda: lw.MultiClassHead(3).loss(np.eye(3, dtype=np.int64), THREE)
    ),
    "labels shape must be [D0, D1, ... DN, 1]": lambda: lw.BinaryClassHead().loss([1, 0], ONE),
    "expected_labels_shape: (3, 1). labels_shape: (2, 1)": lambda: lw.RegressionHead().loss([1.0, 0.0], ONE),
    "logits must have rank at least 2.  Received rank 1, shape (3,)": (
        lambda: lw.BinaryClassHead().loss([1, 0, 1], ONE[:, 0])
    ),
    "logits shape must be [D0, D1, ... DN, logits_dimension], with logits_dimension=4, got (3, 3)": (
        lambda: lw.MultiClassHead(4).predictions(THREE)
    ),
    "logits must be a Tensor of shape [D0, D1, ... DN, 1], got None": lambda: lw.BinaryClassHead().predictions(None),
    "Prediction key must be in PredictionKeys, given: logistic. Valid prediction keys include ['logits', ": (
        lambda: lw.MultiClassHead(3).predictions(THREE, ["logistic"])
    ),
    "Feature w is not in features dictionary. The weight_column of the head asks for it; there are ['x']": (
        _weighted({"x": ONE})
    ),
    "weight_column='w' needs features as a dict by name, got NoneType": _weighted(None),
    "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1], logits_shape: (3, 1).": (
        _weighted({"w": np.ones((3, 2))})
    ),
    "expected_weights_shape: (3, 1). weights_shape: (2, 1)": _weighted({"w": np.ones(2)}),
    "[D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension], logits_shape: (3, 3)": (
        lambda: lw.RegressionHead(3, "w").loss(THREE, THREE, features={"w": np.ones((3, 2))})
    ),
    "Feature (key: w) cannot have rank 0": _weighted({"w": np.float32(1)}),
    "the weights in features['w'] must be numbers, got strings": _weighted({"w": np.array(["a"] * 3)}),
    "SparseTensor is not supported. key: w": _weighted({"w": _SPARSE}),
    "loss_fn must return Tensor of shape [D0, D1, ... DN, 1]. logits_shape: (3, 1) loss_shape: ()": (
        lambda: lw.BinaryClassHead(loss_fn=lambda labels, logits: tf.reduce_sum(logits)).loss([1, 0, 1], ONE)
    ),
    "labels must be a dict. Given: [1]": lambda: _several().loss([1], {"a": ONE, "b": THREE}),
    "labels has missing values for head(s): ['b']": lambda: _several().loss({"a": [1, 0, 1]}, {"a": ONE, "b": THREE}),
    "logits has missing values for head(s): ['a']": lambda: _several().predictions({"b": THREE}),
    "Could not split logits of shape [3, 3] among the heads with individual logits dimensions: [1, 3]. The last "
    "dimension of the logits tensor should equal 4 but is 3": lambda: _several().predictions(THREE),
}


@pytest.mark.parametrize("text", GIVEN)
def test_what_a_head_is_given(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        GIVEN[text]()


def test_a_weight_column_of_another_kind() -> None:
    column = tf.feature_column.categorical_column_with_identity("w", 3)
    with pytest.raises(TypeError, match=r"Weight column must be either a string or NumericColumn\. Given type: "):
        lw.BinaryClassHead(weight_column=column).loss([1, 0, 1], ONE, features={"w": [1, 0, 1]})
    with pytest.raises(KeyError):
        _weighted({"x": ONE})()


# The same through an Estimator, where the values of a batch, and shapes of unknown rank, are known when the step runs.
STEPS: dict[str, tuple[Make, Any, tuple[str, str]]] = {
    "a class that is not there": (
        lambda: lw.MultiClassHead(3),
        [0, 1, 2, 7],
        ("MultiClassHead: Label IDs must < n_classes. Labels must be <= n_classes - 1", "Got] [7]"),
    ),
    "a negative label": (
        lambda: lw.BinaryClassHead(),
        [0, 1, 1, -1],
        ("BinaryClassHead: Label IDs must < n_classes. Labels must be <= n_classes - 1", "Got] [-1]"),
    ),
    "an unknown name": (
        lambda: lw.BinaryClassHead(label_vocabulary=["no", "yes"]),
        ["no", "yes", "no", "maybe"],
        ("Labels must be >= 0, as places in label_vocabulary", "2 entries: no, yes. Got] [maybe]"),
    ),
    "an indicator of two": (
        lambda: lw.MultiLabelHead(2),
        [[0, 1], [0, 0], [1, 1], [0, 2]],
        ("labels must be an integer indicator Tensor with values in [0, 1]", "Got] [2]"),
    ),
    "a share above one": (
        lambda: lw.LogisticRegressionHead(),
        [0.0, 1.0, 1.0, 1.5],
        ("Labels must be in range [0, 1]", "Got] [1.5]"),
    ),
    "a class of a sparse label that is not there": (
        lambda: lw.MultiLabelHead(2),
        lambda: tf.SparseTensor([[0, 0], [3, 0]], np.array([1, 5], np.int64), [4, 1]),
        ("labels must be an integer SparseTensor with values in [0, 2)", "Got] [5]"),
    ),
    "too many numbers": (
        lambda: lw.RegressionHead(),
        np.ones((4, 3), np.float32),
        ("labels shape must be [D0, D1, ... DN, 1]", "Logits:] [2 1] [got:] [2 3]"),
    ),
}


@pytest.mark.parametrize("mode", ["train", "evaluate"])
@pytest.mark.parametrize("name", STEPS)
def test_a_bad_label_fails_its_step(name: str, mode: str, tmp_path: Path) -> None:
    make, labels, parts = STEPS[name]

    def model(features: Any, labels: Any, mode: str) -> Any:
        head = make()
        logits = lw.layers.dense(features["x"], head.logits_dimension)
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer)

    def of_unknown_rank(features: Any, labels: Any) -> Any:
        return features, tf.numpy_function(lambda value: value, [labels], labels.dtype)

    def data() -> Any:
        given = labels() if callable(labels) else labels
        batches = tf.data.Dataset.from_tensor_slices(({"x": np.ones((4, 2), np.float32)}, given)).batch(2)
        return batches.map(of_unknown_rank) if name == "too many numbers" else batches

    def good() -> Any:
        return data().map(lambda x, y: (x, y[:, :1])) if name == "too many numbers" else data().take(1)

    estimator = lw.Estimator(model, str(tmp_path))
    if mode == "evaluate":
        estimator.train(good, steps=1)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        getattr(estimator, mode)(data)
    told = str(caught.value)
    assert parts[0] in told
    assert parts[1] in told
    assert "test_mistakes.py" in told, "the line of model_fn that called the head is told"


def _spec(**how: Any) -> Make:
    return lambda: lw.RegressionHead().create_estimator_spec({}, "train", tf.constant(ONE), tf.constant(ONE), **how)


TRAINING: dict[str, tuple[Make, type[Exception]]] = {
    "train_op_fn and optimizer cannot both be None": (_spec(), ValueError),
    "train_op_fn and optimizer cannot both be set": (
        lambda: _spec(optimizer=keras.optimizers.SGD(), train_op_fn=lambda loss: tf.no_op())(),
        ValueError,
    ),
    "trainable_variables cannot be None. Given None": (
        lambda: _spec(optimizer=keras.optimizers.SGD())(),
        ValueError,
    ),
    "trainable_variables should be a list or a tuple. Given type: <class 'int'>": (
        lambda: _spec(optimizer=keras.optimizers.SGD(), trainable_variables=3)(),
        ValueError,
    ),
    "The given optimizer is not a tf.keras.optimizers.Optimizer instance. Received optimizer of type <class 'str'>": (
        _spec(optimizer="SGD"),
        ValueError,
    ),
    "The given optimizer is not a tf.keras.optimizers.Optimizer instance. Received optimizer of type <class 'int'>": (
        _spec(optimizer=3),
        ValueError,
    ),
    "Missing train_op": (_spec(train_op_fn=lambda loss: None), ValueError),
    "update_ops should be a list or a tuple. Given type: <class 'int'>": (
        _spec(train_op_fn=lambda loss: tf.no_op(), update_ops=3),
        ValueError,
    ),
    "update_ops must hold ops and tensors, got 3": (
        _spec(train_op_fn=lambda loss: tf.no_op(), update_ops=[3]),
        TypeError,
    ),
    "mode must be one of ModeKeys, got 'training'": (
        lambda: lw.RegressionHead().create_estimator_spec({}, "training", tf.constant(ONE)),
        ValueError,
    ),
}


@pytest.mark.parametrize("text", TRAINING)
def test_training(text: str) -> None:
    make, kind = TRAINING[text]
    with tf.Graph().as_default():
        v1.train.create_global_step()
        with pytest.raises(kind, match=re.escape(text)):
            make()
