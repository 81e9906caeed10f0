"""Ready-made models to hold contracts over: every one in both faces, small, on twelve examples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw
import lightwell.compat.v1.estimator as v1_face
import lightwell.estimator as v2_face

column = tf.feature_column
FACES = {"v1": v1_face, "v2": v2_face}
TASKS = ("Classifier", "Regressor", "Estimator")
ROWS, BATCH = 12, 4
_random = np.random.RandomState(1)
FEATURES: dict[str, Any] = {
    "age": _random.rand(ROWS, 1).astype(np.float32),
    "city": np.array([["rome"], ["oslo"], ["lima"]] * (ROWS // 3)),
    "weight": (0.5 + _random.rand(ROWS, 1)).astype(np.float32),
}
AGE = column.numeric_column("age")
CITY = column.categorical_column_with_vocabulary_list("city", ["rome", "oslo"], num_oov_buckets=1)
WIDE, DEEP = [AGE, CITY], [AGE, column.embedding_column(CITY, 2)]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "Baseline": {},
    "Linear": {"feature_columns": WIDE},
    "DNN": {"feature_columns": DEEP, "hidden_units": [4, 3]},
    "DNNLinearCombined": {"linear_feature_columns": WIDE, "dnn_feature_columns": DEEP, "dnn_hidden_units": [4, 3]},
}
NAMES = [f"{model}{task}" for model in ARGUMENTS for task in TASKS]
IN_BOTH_FACES = [(face, name) for name in NAMES for face in FACES]
# The layers of each model: its parts, then the columns, which are the leaves.
_LINEAR = ("linear", "linear/linear_model", "linear/linear_model/age", "linear/linear_model/city")
_INPUT = "dnn/input_from_feature_columns/input_layer"
_DNN = ("dnn/hiddenlayer_0", "dnn/hiddenlayer_1", "dnn/logits", _INPUT, f"{_INPUT}/age", f"{_INPUT}/city_embedding")
LAYERS: dict[str, tuple[str, ...]] = {
    "Baseline": ("baseline/logits",),
    "Linear": _LINEAR,
    "DNN": _DNN,
    "DNNLinearCombined": (*_DNN, *_LINEAR),
}
LABELS: dict[str, Any] = {
    "two": (np.arange(ROWS) % 2).reshape(ROWS, 1),
    "three": (np.arange(ROWS) % 3).reshape(ROWS, 1),
    "words": np.array([["no"], ["yes"]] * (ROWS // 2)),
    "share": _random.rand(ROWS, 1).astype(np.float32),
    "several": (_random.rand(ROWS, 3) > 0.5).astype(np.int64),
}
HEADS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "BinaryClassHead": (
        lambda: lw.BinaryClassHead(weight_column="weight", label_vocabulary=["no", "yes"]),
        lambda: LABELS["words"],
    ),
    "MultiClassHead": (lambda: lw.MultiClassHead(3, weight_column="weight"), lambda: LABELS["three"]),
    "MultiLabelHead": (lambda: lw.MultiLabelHead(3, weight_column="weight"), lambda: LABELS["several"]),
    "RegressionHead": (lambda: lw.RegressionHead(weight_column="weight"), lambda: LABELS["share"]),
    "PoissonRegressionHead": (lambda: lw.PoissonRegressionHead(weight_column="weight"), lambda: LABELS["three"]),
    "LogisticRegressionHead": (lambda: lw.LogisticRegressionHead(weight_column="weight"), lambda: LABELS["share"]),
    "MultiHead": (
        lambda: lw.MultiHead([lw.RegressionHead(name="up"), lw.BinaryClassHead(weight_column="weight", name="click")]),
        lambda: {"up": LABELS["share"], "click": LABELS["two"]},
    ),
}


def model_of(name: str) -> str:
    """`DNN`, for `DNNClassifier`."""
    return next(name.removesuffix(task) for task in TASKS if name.endswith(task))


def made(face: str, name: str, model_dir: Path, **more: Any) -> Any:
    """A ready-made model; an Estimator gets the head `RegressionHead`, unless another is given."""
    given = {**ARGUMENTS[model_of(name)], "model_dir": str(model_dir), **more}
    given.setdefault("config", FACES[face].RunConfig(tf_random_seed=3, save_summary_steps=1, log_step_count_steps=None))
    if name.endswith("Estimator"):
        given.setdefault("head", lw.RegressionHead(weight_column="weight"))
    else:
        given.setdefault("weight_column", "weight")
    return getattr(FACES[face], name)(**given)


def data(labels: Any, repeat: int | None = 1) -> Callable[[], Any]:
    """Batches of four; `labels` are some, or the name of some."""
    given = LABELS[labels] if isinstance(labels, str) else labels
    return lambda: tf.data.Dataset.from_tensor_slices((FEATURES, given)).batch(BATCH).repeat(repeat)


def labels_of(name: str) -> str:
    """The labels that a model is trained on."""
    return "two" if name.endswith("Classifier") else "share"


def raw_receiver() -> Any:
    """How a server is asked: arrays by name."""
    v1 = tf.compat.v1
    given = {
        "age": v1.placeholder(tf.float32, [None, 1], "age"),
        "city": v1.placeholder(tf.string, [None, 1], "city"),
        "weight": v1.placeholder(tf.float32, [None, 1], "weight"),
    }
    return lw.export.ServingInputReceiver(given, given)
