"""Canned models to compare with the original: how each is made, and on which labels. The same code for both sides.

`CASES` maps a name, which begins with the face, to a `Case`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
column = tf.feature_column

_random = np.random.RandomState(0)
ROWS = 32
FEATURES: dict[str, Any] = {
    "age": _random.rand(ROWS, 1).astype(np.float32),
    "size": _random.rand(ROWS, 2).astype(np.float32),
    "city": np.array([["rome"], ["oslo"], ["lima"], ["kyiv"]] * (ROWS // 4)),
    "tags": np.array([["a", "b", "a"], ["c", "", ""], ["b", "c", ""], ["d", "a", ""]] * (ROWS // 4)),
    "level": _random.randint(0, 5, [ROWS, 1]).astype(np.int64),
    "heft": _random.rand(ROWS, 1).astype(np.float32),
    "weight": (0.5 + _random.rand(ROWS, 1)).astype(np.float32),
}
LABELS: dict[str, Any] = {
    "two": (np.arange(ROWS) % 2).reshape(ROWS, 1),
    "three": (np.arange(ROWS) % 3).reshape(ROWS, 1),
    "words": np.array([["no"], ["yes"]] * (ROWS // 2)),
    "number": _random.rand(ROWS, 1).astype(np.float32),
    "numbers": _random.rand(ROWS, 2).astype(np.float32),
}

age, size = column.numeric_column("age"), column.numeric_column("size", shape=[2])
aged = column.bucketized_column(age, [0.3, 0.6])
city = column.categorical_column_with_vocabulary_list("city", ["rome", "oslo", "lima"], num_oov_buckets=1)
tags = column.categorical_column_with_vocabulary_list("tags", ["a", "b", "c", "d"])
level = column.categorical_column_with_identity("level", 5)
hashed = column.categorical_column_with_hash_bucket("city", 7)
crossed = column.crossed_column([aged, "city"], 11)
heavy = column.weighted_categorical_column(level, "heft")
WIDE = [age, size, aged, city, tags, heavy, crossed]
DEEP = [
    age,
    size,
    aged,
    column.indicator_column(city),
    column.embedding_column(tags, 3),
    column.embedding_column(hashed, 2, combiner="sqrtn"),
]


def input_fn(case: Case) -> Callable[[], Any]:
    """Batches of eight, without end."""

    def give() -> Any:
        labels = LABELS[case.labels]
        if case.one_batch:  # the baseline of the v2 face does not start on a dataset in the original
            return {key: tf.constant(value[:8]) for key, value in FEATURES.items()}, tf.constant(labels[:8])
        return tf.data.Dataset.from_tensor_slices((FEATURES, labels)).repeat().batch(8)

    return give


def receiver_fn(api: Any) -> Any:
    """How a server is asked: serialised examples with all features."""
    dense = [age, size, city, tags, level, column.numeric_column("heft")]
    spec = column.make_parse_example_spec([one if one in (age, size) else _dense(one) for one in dense])
    return api.export.build_parsing_serving_input_receiver_fn(spec)


def _dense(one: Any) -> Any:
    return column.indicator_column(one) if hasattr(one, "num_buckets") else one


@dataclass(frozen=True)
class Case:
    """A canned model.

    Attributes:
        face: "v1" or "v2".
        make: takes the module of the face, and the arguments that all models share; gives the model.
        labels: which of `LABELS` it is trained on.
        one_batch: whether the data are a single batch of tensors, and no dataset.
        data: takes the case; gives its `input_fn`.
        receiver: takes the module of the face; says how a server is asked.
    """

    face: str
    make: Callable[..., Any]
    labels: str = "two"
    one_batch: bool = False
    data: Callable[[Case], Callable[[], Any]] = input_fn
    receiver: Callable[[Any], Any] = receiver_fn


CASES: dict[str, Case] = {}


def _both(name: str, make: Callable[..., Any], labels: str = "two", one_batch: bool = False) -> None:
    for face in ("v1", "v2"):
        CASES[f"{face} {name}"] = Case(face, make, labels, one_batch)


def _wide(**more: Any) -> dict[str, Any]:
    return {"linear_feature_columns": WIDE, "dnn_feature_columns": DEEP, "dnn_hidden_units": [4, 3], **more}


# Every model with the defaults of its face.
_both("BaselineClassifier", lambda api, **k: api.BaselineClassifier(n_classes=3, **k), "three", True)
_both("BaselineRegressor", lambda api, **k: api.BaselineRegressor(**k), "number", True)
_both("LinearClassifier", lambda api, **k: api.LinearClassifier(WIDE, **k))
_both("LinearRegressor", lambda api, **k: api.LinearRegressor(WIDE, **k), "number")
_both("DNNClassifier", lambda api, **k: api.DNNClassifier([4, 3], DEEP, **k))
_both("DNNRegressor", lambda api, **k: api.DNNRegressor([4, 3], DEEP, **k), "number")
_both("DNNLinearCombinedClassifier", lambda api, **k: api.DNNLinearCombinedClassifier(**_wide(**k)))
_both("DNNLinearCombinedRegressor", lambda api, **k: api.DNNLinearCombinedRegressor(**_wide(**k)), "number")
# With a head of the user's choice. The original of the v1 face takes them in some models only.
for model, make in {
    "BaselineEstimator": lambda api, **k: api.BaselineEstimator(tf_head(api), **k),
    "LinearEstimator": lambda api, **k: api.LinearEstimator(tf_head(api), WIDE, **k),
    "DNNEstimator": lambda api, **k: api.DNNEstimator(tf_head(api), [4, 3], DEEP, **k),
    "DNNLinearCombinedEstimator": lambda api, **k: api.DNNLinearCombinedEstimator(tf_head(api), **_wide(**k)),
}.items():
    CASES[f"v2 {model}"] = Case("v2", make, "number", model.startswith("Baseline"))
    if model.startswith(("Baseline", "DNNLinear")):
        CASES[f"v1 {model}"] = Case("v1", make, "number", model.startswith("Baseline"))


def tf_head(api: Any) -> Any:
    """A head that weighs the examples."""
    return api.RegressionHead(weight_column="weight")


# Every optimizer by name, over sparse gradients, too.
for name in ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD"):
    _both(f"DNNClassifier {name}", lambda api, name=name, **k: api.DNNClassifier([4], DEEP, optimizer=name, **k))
    _both(
        f"LinearRegressor {name}", lambda api, name=name, **k: api.LinearRegressor(WIDE, optimizer=name, **k), "number"
    )
_both("BaselineClassifier Adam", lambda api, **k: api.BaselineClassifier(optimizer="Adam", **k), "two", True)
_both("Combined Adam", lambda api, **k: api.DNNLinearCombinedClassifier(
    **_wide(dnn_optimizer="Adam", linear_optimizer="Adam", **k)))  # fmt: skip
_both("Combined twice Ftrl", lambda api, **k: api.DNNLinearCombinedClassifier(
    **_wide(dnn_optimizer="Ftrl", linear_optimizer="Ftrl", **k)))  # fmt: skip
# Settings.
_both("DNNClassifier batch_norm", lambda api, **k: api.DNNClassifier([4, 3], DEEP, batch_norm=True, **k))
_both(
    "DNNClassifier tanh",
    lambda api, **k: api.DNNClassifier([4], DEEP, n_classes=3, activation_fn=tf.tanh, **k),
    "three",
)
_both(
    "LinearClassifier mean",
    lambda api, **k: api.LinearClassifier(WIDE, n_classes=3, sparse_combiner="mean", **k),
    "three",
)
_both("LinearClassifier words", lambda api, **k: api.LinearClassifier(
    WIDE, label_vocabulary=["no", "yes"], weight_column="weight", **k), "words")  # fmt: skip
_both("DNNRegressor weighted", lambda api, **k: api.DNNRegressor(
    [4], DEEP, label_dimension=2, weight_column="weight", **k), "numbers")  # fmt: skip
_both("DNNRegressor mean loss", lambda api, **k: api.DNNRegressor(
    [4], DEEP, loss_reduction="weighted_mean" if "v1" in api.__name__ else "sum", **k), "number")  # fmt: skip
_both(
    "Combined linear only", lambda api, **k: api.DNNLinearCombinedRegressor(linear_feature_columns=WIDE, **k), "number"
)
_both("Combined dnn only", lambda api, **k: api.DNNLinearCombinedRegressor(
    dnn_feature_columns=DEEP, dnn_hidden_units=[4], **k), "number")  # fmt: skip
_both("Combined batch_norm", lambda api, **k: api.DNNLinearCombinedClassifier(
    **_wide(batch_norm=True, linear_sparse_combiner="sqrtn", n_classes=3, **k)), "three")  # fmt: skip
CASES["v1 DNNClassifier Adam object"] = Case(
    "v1", lambda api, **k: api.DNNClassifier([4], DEEP, optimizer=v1.train.AdamOptimizer(0.01), **k)
)
CASES["v1 LinearRegressor partitioner"] = Case(
    "v1", lambda api, **k: api.LinearRegressor(WIDE, partitioner=v1.fixed_size_partitioner(1), **k), "number"
)
