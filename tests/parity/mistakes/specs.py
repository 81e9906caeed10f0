"""Every field of an EstimatorSpec, in each mode, with what it cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.mistakes.base import Mistake, alien, in_graph, old
from tests.parity.spies import SpyHook

v1 = tf.compat.v1
MISTAKES: dict[str, Mistake] = {}


def _alien_op() -> Any:
    with tf.Graph().as_default():
        return tf.no_op()


def _alien_variable() -> Any:
    with tf.Graph().as_default():
        return v1.get_variable("v", [])


def _output(lib: Any) -> Any:
    return lib.export.PredictOutput({"a": tf.constant([1.0])})


Value = Callable[[Any], Any]
VALUES: dict[str, dict[str, Value]] = {
    "predictions": {
        "None": lambda lib: None,
        "a number": lambda lib: 1.0,
        "text": lambda lib: "a",
        "an array": lambda lib: np.zeros(2),
        "a list of tensors": lambda lib: [tf.zeros([2])],
        "a tensor": lambda lib: tf.zeros([2]),
        "an empty dict": lambda lib: {},
        "a dict with None": lambda lib: {"a": None},
        "a dict with a number": lambda lib: {"a": 1.0},
        "a dict with an array": lambda lib: {"a": np.zeros(2)},
        "a dict with a list": lambda lib: {"a": [tf.zeros([2])]},
        "a dict with text": lambda lib: {"a": "a"},
        "a dict with an op": lambda lib: {"a": tf.no_op()},
        "a tensor of another graph": lambda lib: alien(),
        "a dict with a tensor of another graph": lambda lib: {"a": tf.zeros([2]), "b": alien()},
    },
    "loss": {
        "None": lambda lib: None,
        "a number": lambda lib: 1.0,
        "text": lambda lib: "a",
        "an array": lambda lib: np.zeros([]),
        "a list": lambda lib: [tf.constant(1.0)],
        "a dict": lambda lib: {"a": tf.constant(1.0)},
        "an op": lambda lib: tf.no_op(),
        "a variable": lambda lib: v1.get_variable("loss", []),
        "of two elements": lambda lib: tf.constant([1.0, 2.0]),
        "of shape [1]": lambda lib: tf.constant([1.0]),
        "of shape [2, 2]": lambda lib: tf.zeros([2, 2]),
        "of no elements": lambda lib: tf.zeros([0]),
        "of unknown length": lambda lib: v1.placeholder(tf.float32, [None]),
        "of unknown rank": lambda lib: v1.placeholder(tf.float32),
        "of whole numbers": lambda lib: tf.constant(1),
        "of another graph": lambda lib: alien(),
    },
    "train_op": {
        "None": lambda lib: None,
        "a number": lambda lib: 1,
        "text": lambda lib: "step",
        "a list of ops": lambda lib: [tf.no_op()],
        "a tuple of ops": lambda lib: (tf.no_op(), tf.no_op()),
        "a function": lambda lib: lambda: tf.no_op(),
        "an array": lambda lib: np.zeros(2),
        "a dict": lambda lib: {"a": tf.no_op()},
        "a tensor": lambda lib: tf.constant(1),
        "an op of another graph": lambda lib: _alien_op(),
        "a tensor of another graph": lambda lib: alien(),
        "a variable of another graph": lambda lib: _alien_variable(),
    },
    "eval_metric_ops": {
        "None": lambda lib: None,
        "a number": lambda lib: 1,
        "text": lambda lib: "a",
        "a list": lambda lib: [(tf.constant(1.0), tf.constant(1.0))],
        "a tensor": lambda lib: tf.constant(1.0),
        "an empty dict": lambda lib: {},
        "a dict with None": lambda lib: {"a": None},
        "a dict with a number": lambda lib: {"a": 1},
        "a dict with text": lambda lib: {"a": "ab"},
        "a dict with a tensor": lambda lib: {"a": tf.constant(1.0)},
        "a dict with an op": lambda lib: {"a": tf.no_op()},
        "a pair of numbers": lambda lib: {"a": (1.0, 2.0)},
        "a pair of None": lambda lib: {"a": (None, None)},
        "a pair of texts": lambda lib: {"a": ("a", "b")},
        "a value without an update": lambda lib: {"a": (tf.constant(1.0), None)},
        "an update without a value": lambda lib: {"a": (None, tf.no_op())},
        "an op as a value": lambda lib: {"a": (tf.no_op(), tf.no_op())},
        "one tensor in a tuple": lambda lib: {"a": (tf.constant(1.0),)},
        "three tensors in a tuple": lambda lib: {"a": (tf.constant(1.0),) * 3},
        "two tensors in a list": lambda lib: {"a": [tf.constant(1.0), tf.constant(1.0)]},
        "a Keras class": lambda lib: {"a": tf.keras.metrics.Mean},
        "a value of another graph": lambda lib: {"a": (alien(), tf.no_op())},
        "an update of another graph": lambda lib: {"a": (tf.constant(1.0), _alien_op())},
    },
    "export_outputs": {
        "None": lambda lib: None,
        "a number": lambda lib: 1,
        "a list": lambda lib: [_output(lib)],
        "an output": lambda lib: _output(lib),
        "an empty dict": lambda lib: {},
        "a dict with None": lambda lib: {"a": None},
        "a dict with a number": lambda lib: {"a": 1},
        "a dict with a tensor": lambda lib: {"a": tf.constant([1.0])},
        "a dict with a class": lambda lib: {"a": lib.export.PredictOutput},
        "a dict with a pair": lambda lib: {"a": ("predict", {"b": tf.constant([1.0])})},
        "one under another name": lambda lib: {"a": _output(lib)},
        "one under no text": lambda lib: {1: _output(lib)},
        "one under None": lambda lib: {None: _output(lib)},
        "two, none of them the default": lambda lib: {"a": _output(lib), "b": _output(lib)},
        "two, one of them the default": lambda lib: {"serving_default": _output(lib), "b": _output(lib)},
    },
    "scaffold": {
        "a number": lambda lib: 1,
        "text": lambda lib: "a",
        "a dict": lambda lib: {},
        "the class": lambda lib: v1.train.Scaffold,
        "a function": lambda lib: lambda: v1.train.Scaffold(),
        "a saver": lambda lib: v1.train.Saver([v1.train.get_global_step()]),
    },
}
_HOOKS: dict[str, Value] = {
    "a number": lambda lib: 1,
    "text": lambda lib: "a",
    "an empty list": lambda lib: [],
    "a list of a number": lambda lib: [1],
    "a list of None": lambda lib: [None],
    "a list of the class": lambda lib: [SpyHook],
    "a list of a list": lambda lib: [[SpyHook("A", [])]],
    "one hook": lambda lib: SpyHook("A", []),
    "a tuple of a number": lambda lib: (1,),
    "a hook and a number": lambda lib: [SpyHook("A", []), 1],
    "a dict": lambda lib: {"a": 1},
}
VALUES |= dict.fromkeys(("training_hooks", "training_chief_hooks", "evaluation_hooks", "prediction_hooks"), _HOOKS)


def _spec(lib: Any, mode: str, **fields: Any) -> Any:
    usual = {
        "predictions": {"output": tf.constant([1.0])},
        "loss": tf.constant(1.0),
        "train_op": tf.no_op(),
    }
    return lib.EstimatorSpec(mode, **{**usual, **fields})


def _given(field: str, value: Value, mode: str) -> Mistake:
    return in_graph(lambda lib: _spec(lib, mode, **{field: value(lib)}))


for _mode in ("train", "eval", "infer"):
    for _field, _values in VALUES.items():
        for _what, _value in _values.items():
            MISTAKES[f"spec of {_mode}: {_field} is {_what}"] = _given(_field, _value, _mode)

_MODES: dict[str, Any] = {"None": None, "a number": 1, "text": "other", "PREDICT": "predict", "a list": []}
MISTAKES |= {
    f"spec: the mode is {what}, of three": in_graph(lambda lib, mode=mode: _spec(lib, mode))
    for what, mode in _MODES.items()
}
MISTAKES |= {
    "spec: an unknown field": in_graph(lambda lib: _spec(lib, "train", other=1)),
    "spec: no mode": in_graph(lambda lib: lib.EstimatorSpec()),
    "spec: _replace of an unknown field": in_graph(lambda lib: _spec(lib, "train")._replace(other=1)),
    "spec: _replace of the mode": in_graph(lambda lib: _spec(lib, "train")._replace(mode="eval")),
    "spec: _replace of the loss": in_graph(lambda lib: _spec(lib, "train")._replace(loss="a")),
    "spec: _replace of the train_op": in_graph(lambda lib: _spec(lib, "train")._replace(train_op=1)),
    "spec: a Keras metric that is never called": in_graph(
        lambda lib: _spec(lib, "eval", eval_metric_ops={"a": tf.keras.metrics.Mean()})
    ),
    "spec of TensorFlow 1: no loss": in_graph(lambda lib: old(lib).EstimatorSpec("train", train_op=tf.no_op())),
    "spec of TensorFlow 1: no train_op": in_graph(lambda lib: old(lib).EstimatorSpec("train", loss=tf.constant(1.0))),
    "spec of TensorFlow 1: no predictions": in_graph(lambda lib: old(lib).EstimatorSpec("infer")),
}
