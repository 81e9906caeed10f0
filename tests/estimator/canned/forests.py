"""Boosted trees on small data: programs that run on TensorFlow 1.15, TensorFlow 2.8 and here.

`CASES` has what is trained; `measured` trains it and gives all numbers. No `lightwell` here: the recorder in
`tests/oracle/record_boosted_trees.py` runs this file beside the original.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import tensorflow as tf

ROWS, BATCH = 96, 24
_random = np.random.RandomState(7)
AGE = _random.uniform(18, 80, ROWS).astype(np.float32)
INCOME = np.round(_random.uniform(0, 10, ROWS), 1).astype(np.float32)
PAIR = _random.uniform(-1, 1, (ROWS, 2)).astype(np.float32)
CITY = _random.choice(["rome", "oslo", "lima"], ROWS)
WEIGHT = _random.uniform(0.5, 2, ROWS).astype(np.float32)
NOISE = _random.uniform(-1, 1, ROWS).astype(np.float32)
FEATURES = {"age": AGE, "income": INCOME, "pair": PAIR, "city": CITY, "weight": WEIGHT}
LABELS = {
    "class": ((AGE > 45) ^ (CITY == "oslo") ^ (NOISE > 0.8)).astype(np.int64),
    "word": np.where((AGE > 45) ^ (CITY == "oslo"), "yes", "no"),
    "number": (0.1 * AGE + np.where(CITY == "rome", 3, 0) + PAIR[:, 0] * INCOME / 4).astype(np.float32),
    "three": (np.digitize(AGE, [38, 60]) + (CITY == "lima")).astype(np.int64) % 3,
}


def columns(*names: str) -> list[Any]:
    """The columns of these names."""
    made = tf.feature_column
    city = made.categorical_column_with_vocabulary_list("city", ["rome", "oslo", "lima"])
    known = {
        "age": lambda: made.bucketized_column(made.numeric_column("age"), [30.0, 45.0, 60.0]),
        "income": lambda: made.numeric_column("income"),
        "pair": lambda: made.numeric_column("pair", shape=(2,)),
        "city": lambda: made.indicator_column(city),
        "category": lambda: city,
    }
    return [known[name]() for name in names]


_ALL = ("age", "income", "city", "pair")
# What is trained: the class, the labels, the columns, further arguments.
CASES: dict[str, dict[str, Any]] = {
    "binary": {"kind": "Classifier", "labels": "class", "columns": _ALL, "n_trees": 4, "max_depth": 3},
    "words": {
        "kind": "Classifier",
        "labels": "word",
        "columns": ("age", "city"),
        "n_trees": 3,
        "max_depth": 2,
        "label_vocabulary": ["no", "yes"],
        "l2_regularization": 0.01,
        "weight_column": "weight",
    },
    "regression": {
        "kind": "Regressor",
        "labels": "number",
        "columns": _ALL,
        "n_trees": 5,
        "max_depth": 3,
        "learning_rate": 0.4,
        "l2_regularization": 0.05,
    },
    "centered": {
        "kind": "Regressor",
        "labels": "number",
        "columns": _ALL,
        "n_trees": 3,
        "max_depth": 2,
        "center_bias": True,
        "min_node_weight": 0.02,
        "l1_regularization": 0.01,
    },
    "explained": {
        "kind": "Classifier",
        "labels": "class",
        "columns": ("age", "income", "city"),
        "n_trees": 3,
        "max_depth": 2,
        "min_node_weight": 0.03,
        "center_bias": True,
    },
    "pruned before": {
        "kind": "Classifier",
        "labels": "class",
        "columns": _ALL,
        "n_trees": 4,
        "max_depth": 3,
        "pruning_mode": "pre",
        "tree_complexity": 0.02,
        "l2_regularization": 0.01,
    },
    "pruned after": {
        "kind": "Regressor",
        "labels": "number",
        "columns": _ALL,
        "n_trees": 3,
        "max_depth": 4,
        "pruning_mode": "post",
        "tree_complexity": 0.3,
        "learning_rate": 0.3,
        "center_bias": True,
    },
    "in memory": {
        "kind": "Classifier",
        "labels": "class",
        "columns": _ALL,
        "n_trees": 3,
        "max_depth": 3,
        "train_in_memory": True,
    },
    "in memory, pruned and centered": {
        "kind": "Regressor",
        "labels": "number",
        "columns": _ALL,
        "n_trees": 3,
        "max_depth": 3,
        "train_in_memory": True,
        "center_bias": True,
        "pruning_mode": "post",
        "tree_complexity": 0.3,
    },
    "three classes": {
        "kind": "Classifier",
        "labels": "three",
        "columns": _ALL,
        "n_trees": 3,
        "max_depth": 2,
        "n_classes": 3,
        "l2_regularization": 0.02,
    },
    "categories": {
        "kind": "Classifier",
        "labels": "class",
        "columns": ("age", "category"),
        "n_trees": 3,
        "max_depth": 2,
    },
}
# TensorFlow 1.15 has neither of them.
NOT_IN_1 = ("three classes", "categories")


def made(face: Any, name: str, model_dir: str, **changes: Any) -> Any:
    """The model of a case.

    Args:
        face: `tf.estimator`, or ours.
        name: the case.
        model_dir: where it lives.
        **changes: arguments in the place of the case's.
    """
    case = {**CASES[name], **changes}
    kind, _, names = case.pop("kind"), case.pop("labels"), case.pop("columns")
    case.setdefault("n_batches_per_layer", 1 if case.get("train_in_memory") else ROWS // BATCH)
    config = face.RunConfig(tf_random_seed=1, save_summary_steps=4)
    return getattr(face, "BoostedTrees" + kind)(columns(*names), model_dir=model_dir, config=config, **case)


def all_rows(name: str) -> Any:
    """An `input_fn` with the data once, in batches."""
    return lambda: _data(name).batch(BATCH)


def to_train(name: str) -> Any:
    """An `input_fn` with the data again and again; whole for a case in memory."""
    size = ROWS if CASES[name].get("train_in_memory") else BATCH
    if size == ROWS:
        return lambda: tf.data.Dataset.from_tensors((dict(FEATURES), LABELS[CASES[name]["labels"]])).repeat()
    return lambda: _data(name).batch(size).repeat()


def _data(name: str) -> Any:
    return tf.data.Dataset.from_tensor_slices((dict(FEATURES), LABELS[CASES[name]["labels"]]))


class Losses(tf.compat.v1.train.SessionRunHook):
    """The loss of each step."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        """Asks for it."""
        loss = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[-1]
        return tf.compat.v1.train.SessionRunArgs(loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Takes it down."""
        self.seen.append(float(run_values.results))


STOPPED_AFTER = 7  # in the middle of a tree, and of a layer's batches


def trained_in_part(face: Any, name: str, model_dir: str) -> None:
    """Trains a case, and stops before its trees are grown."""
    made(face, name, model_dir).train(to_train(name), max_steps=STOPPED_AFTER)


def trained_on(face: Any, name: str, model_dir: str) -> dict[str, Any]:
    """All numbers of a case whose training goes on in `model_dir`."""
    model, losses = made(face, name, model_dir), Losses()
    model.train(to_train(name), hooks=[losses])
    return {"losses": losses.seen, **read(model, name)}


def measured(face: Any, name: str, model_dir: str) -> dict[str, Any]:
    """All numbers of a case, trained anew."""
    model, losses = made(face, name, model_dir), Losses()
    model.train(to_train(name), hooks=[losses])
    return {"losses": losses.seen, **read(model, name)}


def read(model: Any, name: str) -> dict[str, Any]:
    """All numbers of a trained model."""
    key = "predictions" if CASES[name]["kind"] == "Regressor" else "logits"
    found: dict[str, Any] = {
        "evaluation": {key: float(value) for key, value in model.evaluate(all_rows(name)).items()},
        "predictions": [row[key].tolist() for row in model.predict(all_rows(name))],
        "variables": {key: list(shape) for key, shape in tf.train.list_variables(model.model_dir)},
    }
    if name != "categories":  # TensorFlow 2.8 fails there
        found["importances"] = list(map(list, model.experimental_feature_importances().items()))
        found["shares"] = list(map(list, model.experimental_feature_importances(normalize=True).items()))
    if CASES[name].get("center_bias"):
        rows = list(model.experimental_predict_with_explanations(all_rows(name)))[:10]
        found["explanations"] = [[float(row["bias"]), list(map(list, row["dfc"].items()))] for row in rows]
    return found


def summaries(model_dir: str) -> list[list[Any]]:
    """Tags and values of the summaries of a training, by step."""
    seen = []
    for file in sorted(os.listdir(model_dir)):
        if "tfevents" not in file:
            continue
        for event in tf.compat.v1.train.summary_iterator(os.path.join(model_dir, file)):
            for value in event.summary.value:
                if value.HasField("simple_value") and "sec" not in value.tag:
                    seen.append([int(event.step), value.tag, float(value.simple_value)])
    return seen
