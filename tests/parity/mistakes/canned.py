"""Arguments of ready-made models, and data that they cannot use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.mistakes.base import Mistake, data, old

v1 = tf.compat.v1
fc = tf.feature_column
MISTAKES: dict[str, Mistake] = {}
_X = fc.numeric_column("x", [2])
_CATEGORY = fc.categorical_column_with_identity("c", 3)
_COLUMNS = {
    "None": None,
    "empty": [],
    "a number": 1,
    "text": "x",
    "a list of a number": [1],
    "a list of text": ["x"],
    "one column": _X,
    "of one name twice": [_X, _X],
    "a category": [_CATEGORY],
    "a dict": {"x": _X},
}
_OPTIMIZERS = {
    "None": None,
    "unknown": "Other",
    "empty": "",
    "a number": 1,
    "a list": ["SGD"],
    "a Keras class": tf.keras.optimizers.SGD,
    "a function that gives None": lambda: None,
    "a function that gives text": lambda: "SGD",
    "a function of an argument": lambda other: tf.keras.optimizers.SGD(),
}
_UNITS = {
    "None": None,
    "empty": [],
    "a number": 3,
    "text": "a",
    "of 0": [0],
    "of -1": [-1],
    "of text": ["a"],
    "of None": [None],
}
_COUNTS = {"None": None, "0": 0, "1": 1, "-1": -1, "2.5": 2.5, "text": "a"}
_COMMON = {"config": {"a number": 1, "a dict": {}}}
_WARM = {"warm_start_from": {"a number": 1, "nowhere": "nowhere/model.ckpt-1"}}
_DNN = {
    "activation_fn": {"a number": 1, "unknown text": "other"},
    "dropout": {"text": "a", "-1": -1.0, "2": 2.0},
}
_TASKS: dict[str, dict[str, Any]] = {
    "Classifier": {
        "n_classes": _COUNTS,
        "label_vocabulary": {"text": "ab", "of one": ["a"], "of numbers": [1, 2], "a number": 1},
        "weight_column": {"a number": 1, "a category": _CATEGORY},
        "loss_reduction": {"none": "none", "unknown": "other", "None": None},
    },
    "Regressor": {
        "label_dimension": _COUNTS,
        "weight_column": {"a number": 1},
        "loss_reduction": {"none": "none", "unknown": "other"},
    },
    "Estimator": {"head": {"None": None, "a number": 1, "text": "a"}},
}
_MODELS: dict[str, dict[str, Any]] = {
    "Baseline": {"optimizer": _OPTIMIZERS, **_COMMON},
    "Linear": {
        "feature_columns": _COLUMNS,
        "optimizer": _OPTIMIZERS,
        "sparse_combiner": {"unknown": "other", "None": None, "a number": 1},
        **_COMMON,
        **_WARM,
    },
    "DNN": {"feature_columns": _COLUMNS, "hidden_units": _UNITS, "optimizer": _OPTIMIZERS, **_DNN, **_COMMON, **_WARM},
    "DNNLinearCombined": {
        "linear_feature_columns": _COLUMNS,
        "dnn_feature_columns": _COLUMNS,
        "dnn_hidden_units": _UNITS,
        "linear_optimizer": _OPTIMIZERS,
        "dnn_optimizer": _OPTIMIZERS,
        "linear_sparse_combiner": {"unknown": "other", "None": None},
        **_COMMON,
    },
}
_USUAL: dict[str, dict[str, Any]] = {
    "Baseline": {},
    "Linear": {"feature_columns": [_X]},
    "DNN": {"feature_columns": [_X], "hidden_units": [2]},
    "DNNLinearCombined": {
        "linear_feature_columns": [_X],
        "dnn_feature_columns": [_X],
        "dnn_hidden_units": [2],
    },
}
_LABELS = {"Classifier": np.array([[0], [1], [0], [1]]), "Regressor": np.ones([4, 1], np.float32)}


def _trained(lib: Any, kind: str, task: str, model_dir: Path, input_fn: Any = None, **arguments: Any) -> None:
    usual = {**_USUAL[kind], "model_dir": str(model_dir)}
    if task == "Estimator":
        usual["head"] = lib.RegressionHead()
    made = getattr(lib, f"{kind}{task}")(**{**usual, **arguments})
    features = {"x": np.ones([4, 2], np.float32), "c": np.ones([4], np.int64)}
    labels = _LABELS.get(task, np.ones([4, 1], np.float32))
    made.train(input_fn or data(features, labels), steps=1)


def _argument(kind: str, task: str, argument: str, value: Any) -> Mistake:
    return lambda lib, model_dir: _trained(lib, kind, task, model_dir, **{argument: value})


for _kind, _arguments in _MODELS.items():
    for _name, _values in _arguments.items():
        for _what, _value in _values.items():
            MISTAKES[f"{_kind}Classifier: {_name} is {_what}"] = _argument(_kind, "Classifier", _name, _value)
    for _task, _own in _TASKS.items():
        for _name, _values in _own.items():
            for _what, _value in _values.items():
                if _kind != "DNNLinearCombined" or _task != "Regressor":
                    MISTAKES[f"{_kind}{_task}: {_name} is {_what}"] = _argument(_kind, _task, _name, _value)

_FLOATS = np.ones([4, 2], np.float32)
_CLASSES = np.array([[0], [1], [0], [1]])
DATA: dict[str, tuple[Any, Any]] = {
    "no labels": ({"x": _FLOATS}, None),
    "labels of text": ({"x": _FLOATS}, np.array([["a"]] * 4)),
    "labels out of range": ({"x": _FLOATS}, np.full([4, 1], 7)),
    "labels below zero": ({"x": _FLOATS}, np.full([4, 1], -1)),
    "labels of two columns": ({"x": _FLOATS}, np.zeros([4, 2], np.int64)),
    "labels of three rows": ({"x": _FLOATS}, np.zeros([3, 1], np.int64)),
    "labels are a dict": ({"x": _FLOATS}, {"a": _CLASSES}),
    "no feature of the column": ({"y": _FLOATS}, _CLASSES),
    "features are an array": (_FLOATS, _CLASSES),
    "features are empty": ({}, _CLASSES),
    "the feature is text": ({"x": np.array([["a", "b"]] * 4)}, _CLASSES),
    "the feature is of another shape": ({"x": np.ones([4, 3], np.float32)}, _CLASSES),
    "the feature is a scalar": ({"x": np.float32(1)}, _CLASSES),
}


def _fed(kind: str, task: str, features: Any, labels: Any) -> Mistake:
    return lambda lib, model_dir: _trained(lib, kind, task, model_dir, data(features, labels))


for _kind, _task in (("Baseline", "Regressor"), ("Linear", "Classifier"), ("DNN", "Regressor")):
    for _what, (_features, _given) in DATA.items():
        MISTAKES[f"{_kind}{_task}: {_what}"] = _fed(_kind, _task, _features, _given)

_ONLY: dict[str, Callable[[Any, str], Any]] = {
    "DNNLinearCombined: no columns": lambda lib, d: lib.DNNLinearCombinedClassifier(d),
    "DNNLinearCombined: empty columns": lambda lib, d: lib.DNNLinearCombinedClassifier(
        d, linear_feature_columns=[], dnn_feature_columns=[]
    ),
    "DNNLinearCombined: columns without hidden units": lambda lib, d: lib.DNNLinearCombinedClassifier(
        d, dnn_feature_columns=[_X]
    ),
    "DNNLinearCombined: hidden units without columns": lambda lib, d: lib.DNNLinearCombinedClassifier(
        d, linear_feature_columns=[_X], dnn_hidden_units=[2]
    ),
    "DNNLinearCombined: a category for the DNN": lambda lib, d: lib.DNNLinearCombinedClassifier(
        d, dnn_feature_columns=[_CATEGORY], dnn_hidden_units=[2]
    ).train(data({"c": np.ones([4], np.int64)}, _CLASSES), steps=1),
    "add_metrics: the estimator is None": lambda lib, d: lib.add_metrics(None, dict),
    "add_metrics: metric_fn is None": lambda lib, d: lib.add_metrics(lib.BaselineClassifier(d), None),
    "add_metrics: metric_fn of other arguments": lambda lib, d: lib.add_metrics(
        lib.BaselineClassifier(d), lambda other: {}
    ),
    "add_metrics: metric_fn is a number": lambda lib, d: lib.add_metrics(lib.BaselineClassifier(d), 1),
    "call_logit_fn: it gives None": lambda lib, d: lib.experimental.call_logit_fn(
        lambda features, mode: None, {}, "train", {}, {}
    ),
    "call_logit_fn: it gives a number": lambda lib, d: lib.experimental.call_logit_fn(
        lambda features, mode: 1, {}, "train", {}, {}
    ),
    "call_logit_fn: it gives a dict of numbers": lambda lib, d: lib.experimental.call_logit_fn(
        lambda features, mode: {"a": 1}, {}, "train", {}, {}
    ),
    "LinearClassifier of TensorFlow 1: an unknown optimizer": lambda lib, d: (
        old(lib).LinearClassifier([_X], d, optimizer="Other").train(data(labels=_CLASSES), steps=1)
    ),
    "LinearClassifier of TensorFlow 1: an optimizer that is a number": lambda lib, d: (
        old(lib).LinearClassifier([_X], d, optimizer=1).train(data(labels=_CLASSES), steps=1)
    ),
    "LinearClassifier of TensorFlow 1: n_classes=1": lambda lib, d: old(lib).LinearClassifier([_X], d, n_classes=1),
    "LinearClassifier of TensorFlow 1: loss_reduction": lambda lib, d: old(lib).LinearClassifier(
        [_X], d, loss_reduction="other"
    ),
    "DNNClassifier of TensorFlow 1: n_classes=1": lambda lib, d: old(lib).DNNClassifier([2], [_X], d, n_classes=1),
    "DNNClassifier of TensorFlow 1: labels out of range": lambda lib, d: (
        old(lib).DNNClassifier([2], [_X], d, n_classes=3).train(data(labels=np.full([4, 1], 7)), steps=1)
    ),
    "LinearClassifier of TensorFlow 1: labels out of range": lambda lib, d: (
        old(lib).LinearClassifier([_X], d).train(data(labels=np.full([4, 1], 7)), steps=1)
    ),
    "LinearClassifier of TensorFlow 1: labels of text": lambda lib, d: (
        old(lib).LinearClassifier([_X], d).train(data(labels=np.array([["a"]] * 4)), steps=1)
    ),
    "LinearRegressor of TensorFlow 1: labels of two columns": lambda lib, d: (
        old(lib).LinearRegressor([_X], d).train(data(labels=np.ones([4, 2])), steps=1)
    ),
    "LinearRegressor of TensorFlow 1: no labels": lambda lib, d: (
        old(lib).LinearRegressor([_X], d).train(data(), steps=1)
    ),
}
MISTAKES |= {what: lambda lib, model_dir, make=make: make(lib, str(model_dir)) for what, make in _ONLY.items()}
