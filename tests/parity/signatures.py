"""Export outputs as signatures: the cases, each written as the text of its proto or the type of its exception.

The same code makes the recording (with `tf.estimator`) and the comparison (with `lightwell`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
Tensors = dict[str, Any]


def _tensors() -> Tensors:
    return {
        "examples": v1.placeholder(tf.string, [None], name="examples"),
        "x": v1.placeholder(tf.float32, [None, 3], name="x"),
        "scores": v1.placeholder(tf.float32, [None, 2], name="scores"),
        "double": v1.placeholder(tf.float64, [None, 2], name="double"),
        "classes": v1.placeholder(tf.string, [None, 2], name="classes"),
        "ids": v1.placeholder(tf.int64, None, name="ids"),
        "sparse": v1.sparse_placeholder(tf.float32, [None, 4], name="sparse"),
    }


CASES: dict[str, Callable[[Any, Tensors], Any]] = {
    "classification, both": lambda export, t: export.ClassificationOutput(t["scores"], t["classes"]),
    "classification, scores": lambda export, t: export.ClassificationOutput(scores=t["scores"]),
    "classification, classes": lambda export, t: export.ClassificationOutput(classes=t["classes"]),
    "classification, double scores": lambda export, t: export.ClassificationOutput(scores=t["double"]),
    "regression": lambda export, t: export.RegressionOutput(t["scores"]),
    "regression, double": lambda export, t: export.RegressionOutput(t["double"]),
    "prediction of one": lambda export, t: export.PredictOutput(t["scores"]),
    "prediction of several": lambda export, t: export.PredictOutput({"b": t["scores"], "a": t["ids"]}),
    "prediction, sparse": lambda export, t: export.PredictOutput({"s": t["sparse"]}),
}
RECEIVERS: dict[str, Callable[[Tensors], Any]] = {
    "examples": lambda t: {"examples": t["examples"]},
    "a tensor": lambda t: t["examples"],
    "raw": lambda t: {"x": t["x"]},
    "two": lambda t: {"x": t["x"], "examples": t["examples"]},
    "sparse": lambda t: {"s": t["sparse"]},
}


def outcomes(export: Any) -> dict[str, str]:
    """Every case with every receiver."""
    found = {}
    for case, make in CASES.items():
        for receiver, give in RECEIVERS.items():
            with tf.Graph().as_default():
                tensors = _tensors()
                try:
                    found[f"{case} from {receiver}"] = str(make(export, tensors).as_signature_def(give(tensors)))
                except (ValueError, TypeError, AttributeError) as error:
                    builtin = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
                    found[f"{case} from {receiver}"] = builtin.__name__
    return found
