"""Heads with something to work on: the cases that the recording (with `tf.estimator`) and the tests share.

A case is two batches of four examples, whose numbers were drawn once. Labels given as lists of lists are sparse: the
classes of each example.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

ROWS, WIDTH = 8, 3
_draw = np.random.RandomState(7)
X = _draw.randn(ROWS, WIDTH).astype(np.float32)
WEIGHTS = np.array([1.0, 2.0, 0.5, 0.0, 1.5, 1.0, 3.0, 0.25], np.float32)
BINARY = np.array([1, 0, 1, 1, 0, 0, 1, 0], np.int64)
CLASSES = np.array([0, 2, 1, 1, 2, 0, 0, 2], np.int64)
SEVERAL = [[0], [0, 2], [], [1], [2, 1], [0, 1, 2], [2], [1]]
NUMBERS = _draw.randn(ROWS, 2).astype(np.float32)
COUNTS = np.array([[0], [3], [1], [2], [0], [5], [1], [1]], np.float32)
SHARES = np.array([[0.0], [0.25], [1.0], [0.5], [0.75], [0.1], [0.9], [1.0]], np.float32)
WORDS = ["ape", "bee", "cow"]


def _names(ids: np.ndarray) -> np.ndarray:
    return np.array(WORDS)[ids]


def _hot(rows: list[list[int]]) -> np.ndarray:
    return np.array([[int(n in row) for n in range(3)] for row in rows], np.int64)


@dataclass(frozen=True, eq=False)
class Case:
    """A head and what it is given.

    Attributes:
        head: makes it out of a face: `tf.estimator` or `lightwell`.
        labels: of all examples; a dict for several heads.
        features: more features than `x`.
        regularized: whether there are regularisation losses.
        extra: sizes between the batch and the logits.
    """

    head: Callable[[Any], Any]
    labels: Any
    features: dict[str, np.ndarray] = field(default_factory=dict)
    regularized: bool = False
    extra: tuple[int, ...] = ()


def _absolute(labels: Any, logits: Any) -> Any:
    return tf.abs(tf.cast(labels, tf.float32) - tf.reduce_mean(logits, -1, keepdims=True))


def _absolute_mean(labels: Any, logits: Any, features: Any) -> Any:
    error = tf.abs(tf.cast(labels, tf.float32) - logits)
    return tf.reduce_mean(error, -1, keepdims=True) * tf.reshape(features["w"], [-1, 1])


_W = {"w": WEIGHTS}
_W1 = {"w": WEIGHTS[:, None]}
_column = tf.feature_column.numeric_column

CASES: dict[str, Case] = {
    "binary": Case(lambda e: e.BinaryClassHead(), BINARY[:, None]),
    "binary, flat labels": Case(lambda e: e.BinaryClassHead(), BINARY),
    "binary, bool labels": Case(lambda e: e.BinaryClassHead(), BINARY.astype(bool)),
    "binary, shares for labels": Case(lambda e: e.BinaryClassHead(), SHARES),
    "binary, names": Case(lambda e: e.BinaryClassHead(label_vocabulary=["no", "yes"]), np.array(["no", "yes"])[BINARY]),
    "binary, sum": Case(lambda e: e.BinaryClassHead(loss_reduction="sum"), BINARY, regularized=True),
    "binary, auto": Case(lambda e: e.BinaryClassHead(loss_reduction="auto"), BINARY, regularized=True),
    "binary, weights": Case(lambda e: e.BinaryClassHead(weight_column="w"), BINARY, _W),
    "binary, weights of a column": Case(
        lambda e: e.BinaryClassHead(weight_column=_column("w", normalizer_fn=lambda w: w * 2)), BINARY, _W1
    ),
    "binary, whole weights, sum": Case(
        lambda e: e.BinaryClassHead("w", loss_reduction="sum"), BINARY, {"w": np.arange(ROWS)}
    ),
    "binary, thresholds and name": Case(
        lambda e: e.BinaryClassHead("w", thresholds=[0.25, 0.5, 0.75], name="hd"), BINARY, _W, regularized=True
    ),
    "binary, loss_fn": Case(lambda e: e.BinaryClassHead(loss_fn=_absolute), BINARY),
    "binary, deep logits": Case(
        lambda e: e.BinaryClassHead("w", [0.4]),
        np.stack([BINARY, 1 - BINARY], 1)[..., None],
        {"w": np.stack([WEIGHTS, WEIGHTS + 1], 1)},
        extra=(2,),
    ),
    "classes": Case(lambda e: e.MultiClassHead(3), CLASSES[:, None]),
    "classes, flat int32 labels": Case(lambda e: e.MultiClassHead(3), CLASSES.astype(np.int32)),
    "classes, names": Case(
        lambda e: e.MultiClassHead(3, "w", WORDS, name="animal"), _names(CLASSES)[:, None], _W, regularized=True
    ),
    "classes, sum": Case(lambda e: e.MultiClassHead(3, "w", loss_reduction="sum"), CLASSES, _W1, regularized=True),
    "classes, loss_fn": Case(lambda e: e.MultiClassHead(3, loss_fn=_absolute), CLASSES),
    "classes, deep logits": Case(
        lambda e: e.MultiClassHead(3, "w"), np.stack([CLASSES, 2 - CLASSES], 1), {"w": np.ones((ROWS, 2))}, extra=(2,)
    ),
    "labels": Case(lambda e: e.MultiLabelHead(3), _hot(SEVERAL)),
    "labels, floats": Case(lambda e: e.MultiLabelHead(3), _hot(SEVERAL).astype(np.float32) * 0.5),
    "labels, sparse": Case(lambda e: e.MultiLabelHead(3, "w"), SEVERAL, _W),
    "labels, sparse names": Case(
        lambda e: e.MultiLabelHead(3, label_vocabulary=WORDS, classes_for_class_based_metrics=["cow", "ape"]),
        [[WORDS[n] for n in row] for row in SEVERAL],
    ),
    "labels, thresholds and classes": Case(
        lambda e: e.MultiLabelHead(3, "w", [0.3, 0.7], classes_for_class_based_metrics=[0, 2], name="tags"),
        _hot(SEVERAL),
        _W1,
        regularized=True,
    ),
    "labels, sum": Case(lambda e: e.MultiLabelHead(3, "w", loss_reduction="sum"), _hot(SEVERAL), _W),
    "labels, loss_fn": Case(lambda e: e.MultiLabelHead(3, loss_fn=_absolute_mean), _hot(SEVERAL), _W),
    "labels, deep logits": Case(
        lambda e: e.MultiLabelHead(3, "w", [0.4], classes_for_class_based_metrics=[1]),
        np.stack([_hot(SEVERAL), 1 - _hot(SEVERAL)], 1),
        {"w": np.stack([WEIGHTS, WEIGHTS + 1], 1)},
        extra=(2,),
    ),
    "numbers": Case(lambda e: e.RegressionHead(2), NUMBERS),
    "numbers, one": Case(lambda e: e.RegressionHead(name="price"), NUMBERS[:, 0], regularized=True),
    "numbers, doubles": Case(lambda e: e.RegressionHead(2), NUMBERS.astype(np.float64)),
    "numbers, whole": Case(lambda e: e.RegressionHead(1), COUNTS.astype(np.int32)),
    "numbers, weights": Case(lambda e: e.RegressionHead(2, "w"), NUMBERS, _W),
    "numbers, weights for each, sum": Case(
        lambda e: e.RegressionHead(2, "w", "sum"), NUMBERS, {"w": np.stack([WEIGHTS, WEIGHTS + 1], 1)}
    ),
    "numbers, loss_fn and link": Case(
        lambda e: e.RegressionHead(
            2, loss_fn=lambda labels, logits: tf.abs(labels - logits), inverse_link_fn=lambda logits: logits * 2
        ),
        NUMBERS,
        regularized=True,
    ),
    "numbers, deep logits": Case(
        lambda e: e.RegressionHead(2, "w"), np.stack([NUMBERS, NUMBERS + 1], 1), {"w": np.ones((ROWS, 2))}, extra=(2,)
    ),
    "counts": Case(lambda e: e.PoissonRegressionHead(), COUNTS),
    "counts, short loss": Case(
        lambda e: e.PoissonRegressionHead(1, "w", "sum", compute_full_loss=False, name="visits"), COUNTS, _W
    ),
    "shares": Case(lambda e: e.LogisticRegressionHead(), SHARES),
    "shares, weights": Case(lambda e: e.LogisticRegressionHead("w", "sum", name="rate"), SHARES[:, 0], _W),
    "several heads": Case(
        lambda e: e.MultiHead([e.BinaryClassHead(name="click"), e.RegressionHead(2, name="price")], [1.0, 2.0]),
        {"click": BINARY, "price": NUMBERS},
        regularized=True,
    ),
    "several heads with weights": Case(
        lambda e: e.MultiHead(
            [
                e.MultiLabelHead(3, "w", loss_reduction="sum", name="tags"),
                e.MultiClassHead(3, "w", None, "sum", name="kind"),
            ]
        ),
        {"tags": _hot(SEVERAL), "kind": CLASSES},
        _W,
    ),
}
# One case for each kind of head.
KINDS = ("binary", "classes", "labels", "numbers", "counts", "shares", "several heads")

_BINARY_HEAD = "_binary_logistic_head_with_sigmoid_cross_entropy_loss"
_CLASS_HEAD = "_multi_class_head_with_softmax_cross_entropy_loss"

# The heads of TensorFlow 1, made by functions of the private module `canned.head`.
OLD_CASES: dict[str, Case] = {
    "binary": Case(lambda h: getattr(h, _BINARY_HEAD)(), BINARY),
    "binary, all": Case(
        lambda h: getattr(h, _BINARY_HEAD)("w", [0.25, 0.75], ["no", "yes"], name="hd"),
        np.array(["no", "yes"])[BINARY],
        _W,
        regularized=True,
    ),
    "classes": Case(lambda h: getattr(h, _CLASS_HEAD)(3), CLASSES),
    "classes, all": Case(
        lambda h: getattr(h, _CLASS_HEAD)(3, "w", WORDS, name="animal"), _names(CLASSES), _W, regularized=True
    ),
    "numbers": Case(lambda h: h._regression_head(label_dimension=2), NUMBERS),
    "numbers, all": Case(
        lambda h: h._regression_head("w", 2, inverse_link_fn=tf.exp, name="price"), NUMBERS, _W, regularized=True
    ),
    **{
        f"{reduction} of {kind}": Case(make, labels, _W)
        for reduction in (
            "weighted_sum",
            "weighted_mean",
            "weighted_sum_over_batch_size",
            "weighted_sum_by_nonzero_weights",
        )
        for kind, make, labels in (
            ("classes", lambda h, r=reduction: getattr(h, _CLASS_HEAD)(3, "w", loss_reduction=r), CLASSES),
            ("numbers", lambda h, r=reduction: h._regression_head("w", 2, r), NUMBERS),
        )
    },
}


def sparse(rows: list[list[Any]]) -> tf.SparseTensor:
    """The classes of each example as a sparse tensor."""
    values = [value for row in rows for value in row]
    indices = [(n, k) for n, row in enumerate(rows) for k in range(len(row))]
    dtype = np.int64 if not values or isinstance(values[0], int) else None
    return tf.SparseTensor(indices, np.array(values, dtype), [len(rows), max(map(len, rows))])


def labels_of(case: Case, rows: slice) -> Any:
    """The labels of some examples, as a head takes them."""
    if isinstance(case.labels, dict):
        return {name: tf.constant(labels[rows]) for name, labels in case.labels.items()}
    return sparse(case.labels[rows]) if isinstance(case.labels, list) else tf.constant(case.labels[rows])


def logits_of(case: Case, dimension: int) -> np.ndarray:
    """Logits for all examples."""
    return np.random.RandomState(11).randn(ROWS, *case.extra, dimension).astype(np.float32)
