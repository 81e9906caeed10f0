"""Arguments of heads, and labels, logits and weights that a head cannot use. Heads of TensorFlow 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.mistakes.base import Mistake, in_graph, of

v1 = tf.compat.v1
MISTAKES: dict[str, Mistake] = {}


def _loss_of_three(labels: Any, logits: Any, other: Any) -> Any:
    return logits


def _flat_loss(labels: Any, logits: Any) -> Any:
    return tf.reduce_sum(logits)


_COUNTS = {"None": None, "0": 0, "1": 1, "2": 2, "-1": -1, "2.5": 2.5, "text": "a"}
_REDUCTIONS = {"none": "none", "unknown": "other", "None": None, "a number": 1, "auto": "auto"}
_VOCABULARIES = {
    "text": "ab",
    "a number": 1,
    "of one": ["a"],
    "of numbers": [1, 2, 3],
    "empty": [],
    "of two": ["a", "b"],
}
_LOSSES = {
    "a number": 1,
    "of other arguments": lambda a, b: b,
    "of labels alone": lambda labels: labels,
    "of no labels": lambda logits, features: logits,
    "of an unknown argument": _loss_of_three,
}
_THRESHOLDS = {"a number": 0.5, "0": [0.0], "1": [1.0], "-1": [-1.0], "text": ["a"], "None in a list": [None]}
_COLUMNS = {"a number": 1, "a list": ["a"], "a category": tf.feature_column.categorical_column_with_identity("a", 2)}
_CLASSES = {"text": "a", "3 of 3": [3], "-1": [-1], "unknown words": ["z"], "a number": 1}
_COMMON = {"loss_reduction": _REDUCTIONS, "weight_column": _COLUMNS, "name": {"a number": 1, "empty": ""}}
ARGUMENTS: dict[str, dict[str, dict[str, Any]]] = {
    "BinaryClassHead": {
        **_COMMON,
        "thresholds": _THRESHOLDS,
        "label_vocabulary": _VOCABULARIES,
        "loss_fn": _LOSSES,
    },
    "MultiClassHead": {**_COMMON, "n_classes": _COUNTS, "label_vocabulary": _VOCABULARIES, "loss_fn": _LOSSES},
    "MultiLabelHead": {
        **_COMMON,
        "n_classes": _COUNTS,
        "thresholds": _THRESHOLDS,
        "label_vocabulary": _VOCABULARIES,
        "loss_fn": _LOSSES,
        "classes_for_class_based_metrics": _CLASSES,
    },
    "RegressionHead": {
        **_COMMON,
        "label_dimension": _COUNTS,
        "loss_fn": _LOSSES,
        "inverse_link_fn": {"a number": 1, "of two arguments": lambda a, b: a},
    },
    "PoissonRegressionHead": {**_COMMON, "label_dimension": _COUNTS},
    "LogisticRegressionHead": {**_COMMON},
}
_USUAL: dict[str, dict[str, Any]] = {"MultiClassHead": {"n_classes": 3}, "MultiLabelHead": {"n_classes": 3}}


def _made(kind: str, argument: str, value: Any) -> Mistake:
    usual = _USUAL.get(kind, {})
    return lambda lib, model_dir: getattr(lib, kind)(**{**usual, argument: value})


for _kind, _arguments in ARGUMENTS.items():
    for _argument, _values in _arguments.items():
        for _what, _value in _values.items():
            MISTAKES[f"{_kind}: {_argument} is {_what}"] = _made(_kind, _argument, _value)


def _named(lib: Any, name: Any = "a") -> Any:
    return lib.RegressionHead(name=name)


SEVERAL: dict[str, Callable[[Any], Any]] = {
    "no heads": lambda lib: lib.MultiHead([]),
    "None": lambda lib: lib.MultiHead(None),
    "numbers": lambda lib: lib.MultiHead([1]),
    "heads without names": lambda lib: lib.MultiHead([_named(lib, None), _named(lib)]),
    "heads of one name": lambda lib: lib.MultiHead([_named(lib), _named(lib)]),
    "too few weights": lambda lib: lib.MultiHead([_named(lib), _named(lib, "b")], head_weights=[1.0]),
    "no weights": lambda lib: lib.MultiHead([_named(lib), _named(lib, "b")], head_weights=[]),
    "weights of text": lambda lib: lib.MultiHead([_named(lib), _named(lib, "b")], head_weights=["a", "b"]),
}
MISTAKES |= {f"MultiHead: {what}": lambda lib, model_dir, make=make: make(lib) for what, make in SEVERAL.items()}

# Each head with labels and logits that fit; what is changed is one of them.
ONE = np.array([[1.0], [-1.0]], np.float32)
TWO = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
THREE = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]], np.float32)
ZERO_ONE = np.array([[0], [1]])
HEADS: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "binary": (lambda lib, w: lib.BinaryClassHead(weight_column=w), ONE, ZERO_ONE),
    "binary with words": (
        lambda lib, w: lib.BinaryClassHead(weight_column=w, label_vocabulary=["a", "b"]),
        ONE,
        np.array([["a"], ["b"]]),
    ),
    "multi-class": (lambda lib, w: lib.MultiClassHead(3, weight_column=w), THREE, ZERO_ONE),
    "multi-class with words": (
        lambda lib, w: lib.MultiClassHead(3, weight_column=w, label_vocabulary=["a", "b", "c"]),
        THREE,
        np.array([["a"], ["b"]]),
    ),
    "multi-label": (lambda lib, w: lib.MultiLabelHead(3, weight_column=w), THREE, np.array([[0, 1, 1], [1, 0, 0]])),
    "multi-label with words": (
        lambda lib, w: lib.MultiLabelHead(3, weight_column=w, label_vocabulary=["a", "b", "c"]),
        THREE,
        np.array([[0, 1, 1], [1, 0, 0]]),
    ),
    "regression": (lambda lib, w: lib.RegressionHead(weight_column=w), ONE, ONE),
    "regression of two": (lambda lib, w: lib.RegressionHead(2, weight_column=w), TWO, TWO),
    "Poisson": (lambda lib, w: lib.PoissonRegressionHead(weight_column=w), ONE, np.abs(ONE)),
    "logistic": (lambda lib, w: lib.LogisticRegressionHead(weight_column=w), ONE, np.abs(ONE)),
}
LABELS: dict[str, Any] = {
    "None": None,
    "a number": 1,
    "a scalar": lambda: tf.constant(1),
    "numbers of rank 1": np.array([0, 1]),
    "numbers of rank 3": np.zeros([2, 1, 1], np.int64),
    "two columns": np.zeros([2, 2], np.int64),
    "three columns": np.zeros([2, 3], np.int64),
    "four columns": np.zeros([2, 4], np.int64),
    "three rows": np.zeros([3, 1], np.int64),
    "three rows of three": np.zeros([3, 3], np.int64),
    "out of range": np.array([[0], [3]]),
    "far below zero": np.array([[0], [-1]]),
    "out of range, of three": np.array([[0, 1, 2], [3, 0, 0]]),
    "below zero, of three": np.array([[0, 1, -1], [0, 0, 0]]),
    "fractions": np.array([[0.5], [1.0]], np.float32),
    "fractions, of three": np.full([2, 3], 0.5, np.float32),
    "words": np.array([["a"], ["b"]]),
    "unknown words": np.array([["a"], ["z"]]),
    "truth values": np.array([[True], [False]]),
    "a dict": {"a": np.zeros([2, 1])},
    "a list": [[0], [1]],
    "sparse numbers": lambda: tf.sparse.from_dense(np.array([[1, 2], [0, 1]])),
    "sparse numbers out of range": lambda: tf.sparse.from_dense(np.array([[1, 5], [0, 1]])),
    "sparse numbers below zero": lambda: tf.sparse.from_dense(np.array([[1, -5], [0, 1]])),
    "sparse words": lambda: tf.sparse.from_dense(np.array([["a", "b"], ["", "c"]])),
    "sparse unknown words": lambda: tf.sparse.from_dense(np.array([["a", "z"], ["", "c"]])),
    "sparse fractions": lambda: tf.sparse.from_dense(np.array([[0.5, 1.0], [0, 1]])),
    "of a shape known while it runs": lambda: v1.placeholder_with_default(np.zeros([2, 4], np.int64), None),
    "of rank 1 while it runs": lambda: v1.placeholder_with_default(np.zeros([2], np.int64), None),
}
LOGITS: dict[str, Any] = {
    "None": None,
    "a scalar": lambda: tf.constant(1.0),
    "rank 1": np.zeros([2], np.float32),
    "four columns": np.zeros([2, 4], np.float32),
    "three rows": np.zeros([3, 1], np.float32),
    "three rows of three": np.zeros([3, 3], np.float32),
    "whole numbers": np.zeros([2, 1], np.int64),
    "words": np.array([["a"], ["b"]]),
    "a dict": {"a": np.zeros([2, 1], np.float32)},
    "of a shape known while it runs": lambda: v1.placeholder_with_default(np.zeros([2, 4], np.float32), None),
}
WEIGHTS: dict[str, Any] = {
    "none": "left out",
    "words": np.array([["a"], ["b"]]),
    "of three columns": np.ones([2, 3], np.float32),
    "of three rows": np.ones([3, 1], np.float32),
    "of rank 1": np.ones([2], np.float32),
    "of rank 3": np.ones([2, 1, 1], np.float32),
    "a scalar": lambda: tf.constant(1.0),
    "whole numbers": np.ones([2, 1], np.int64),
    "sparse": lambda: tf.sparse.from_dense(np.ones([2, 1], np.float32)),
}
_SAME = object()


def loss(
    make: Callable[[Any, Any], Any], logits: Any, labels: Any, weights: Any = _SAME, mode: str = "train"
) -> Mistake:
    """A head's spec with these values, and its loss where there is one."""

    def run(lib: Any) -> None:
        head = make(lib, None if weights is _SAME else "w")
        features = {"x": tf.zeros([2, 1])}
        if weights is not _SAME and not isinstance(weights, str):
            features["w"] = of(weights) if callable(weights) else tf.constant(weights)
        optimizer = {"train_op_fn": lambda loss: tf.no_op()} if mode == "train" else {}
        spec = head.create_estimator_spec(features, mode, _tensor(logits), _tensor(labels), **optimizer)
        evaluated(spec)

    return in_graph(run)


def evaluated(spec: Any) -> None:
    """What the ops of a spec raise when they run."""
    with v1.Session() as session:
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        session.run([part for part in (spec.loss, spec.predictions) if part is not None])


def _tensor(value: Any) -> Any:
    return tf.constant(value) if isinstance(value, np.ndarray) else of(value)


def at_once(make: Callable[[Any, Any], Any], logits: Any, labels: Any, weights: Any = _SAME) -> Mistake:
    """A head's loss with these values, outside of graphs."""

    def run(lib: Any, model_dir: Path) -> None:
        head = make(lib, None if weights is _SAME else "w")
        features = {"x": tf.zeros([2, 1])}
        if weights is not _SAME and not isinstance(weights, str):
            features["w"] = _tensor(weights)
        head.loss(_tensor(labels), _tensor(logits), features, "eval")

    return run


IN_GRAPHS = ("binary", "multi-class", "regression")
for _kind, (_make, _logits, _labels) in HEADS.items():
    for _what, _value in LABELS.items():
        if "while it runs" not in _what:
            MISTAKES[f"{_kind} head: labels are {_what}"] = at_once(_make, _logits, _value)
        if _kind in IN_GRAPHS:
            MISTAKES[f"{_kind} head, in a graph: labels are {_what}"] = loss(_make, _logits, _value)
    for _what, _value in LOGITS.items():
        if "while it runs" not in _what:
            MISTAKES[f"{_kind} head: logits are {_what}"] = at_once(_make, _value, _labels)
        if _kind in IN_GRAPHS:
            MISTAKES[f"{_kind} head, in a graph: logits are {_what}"] = loss(_make, _value, _labels)
            MISTAKES[f"{_kind} head, PREDICT: logits are {_what}"] = loss(_make, _value, None, mode="infer")
    for _what, _value in WEIGHTS.items():
        MISTAKES[f"{_kind} head: weights are {_what}"] = at_once(_make, _logits, _labels, _value)
        if _kind in IN_GRAPHS:
            MISTAKES[f"{_kind} head, in a graph: weights are {_what}"] = loss(_make, _logits, _labels, _value)
    MISTAKES[f"{_kind} head, EVAL: no labels"] = loss(_make, _logits, None, mode="eval")
    MISTAKES[f"{_kind} head: an unknown mode"] = loss(_make, _logits, _labels, mode="other")


def _with_loss(fn: Any) -> Mistake:
    return loss(lambda lib, w: lib.RegressionHead(loss_fn=fn), ONE, ONE)


def _trains(**arguments: Any) -> Mistake:
    def run(lib: Any) -> None:
        head = lib.RegressionHead()
        features = {"x": tf.zeros([2, 1])}
        given = {key: of(value) if key != "train_op_fn" else value for key, value in arguments.items()}
        head.create_estimator_spec(features, "train", tf.constant(ONE), tf.constant(ONE), **given)

    return in_graph(run)


def _several(logits: Any, labels: Any) -> Mistake:
    return loss(lambda lib, w: lib.MultiHead([_named(lib), _named(lib, "b")]), logits, labels)


_BOTH = {"a": ONE, "b": ONE}
MISTAKES |= {
    "head: a loss_fn that gives a scalar": _with_loss(_flat_loss),
    "head: a loss_fn that gives None": _with_loss(lambda labels, logits: None),
    "head: a loss_fn of another shape": _with_loss(lambda labels, logits: tf.zeros([3, 1])),
    "head, TRAIN: neither optimizer nor train_op_fn": _trains(),
    "head, TRAIN: both": _trains(optimizer=tf.keras.optimizers.SGD, train_op_fn=lambda loss: tf.no_op()),
    "head, TRAIN: the optimizer is a number": _trains(optimizer=1),
    "head, TRAIN: the optimizer is text": _trains(optimizer="SGD"),
    "head, TRAIN: the train_op_fn gives None": _trains(train_op_fn=lambda loss: None),
    "head, TRAIN: the train_op_fn is a number": _trains(train_op_fn=1),
    "several heads: one array of logits": _several(np.zeros([2, 3], np.float32), {"a": ONE, "b": ONE}),
    "several heads: no labels for one": _several(lambda: {k: tf.constant(v) for k, v in _BOTH.items()}, {"a": ONE}),
    "several heads: no logits for one": _several(lambda: {"a": tf.constant(ONE)}, _BOTH),
    "several heads: labels are no dict": _several(lambda: {k: tf.constant(v) for k, v in _BOTH.items()}, ONE),
    "several heads: no labels": _several(lambda: {k: tf.constant(v) for k, v in _BOTH.items()}, None),
}
