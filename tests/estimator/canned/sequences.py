"""Recurrent models to compare with the original: how each is made, on which sequences. The same code for both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tests.estimator.canned.cases import Case

column = tf.feature_column
_random = np.random.RandomState(1)
ROWS, STEPS = 16, 4
WORDS = np.array([["a", "b", "c", ""], ["c", "", "", ""], ["b", "a", "", ""], ["d", "a", "b", "c"]] * (ROWS // 4))
IS_THERE = WORDS != ""
PRICES = _random.rand(ROWS, STEPS).astype(np.float32)
DENSE: dict[str, Any] = {
    "size": _random.rand(ROWS, 2).astype(np.float32),
    "level": _random.randint(0, 5, [ROWS, 1]).astype(np.int64),
    "weight": (0.5 + _random.rand(ROWS, 1)).astype(np.float32),
    "weights": (0.5 + _random.rand(ROWS, STEPS)).astype(np.float32),
}
LABELS: dict[str, Any] = {
    "two": (np.arange(ROWS) % 2).reshape(ROWS, 1),
    "three": (np.arange(ROWS) % 3).reshape(ROWS, 1),
    "words": np.array([["no"], ["yes"]] * (ROWS // 2)),
    "number": _random.rand(ROWS, 1).astype(np.float32),
    "two of steps": _random.randint(0, 2, [ROWS, STEPS]),
    "three of steps": _random.randint(0, 3, [ROWS, STEPS, 1]),
}

word = column.sequence_categorical_column_with_vocabulary_list("word", ["a", "b", "c", "d"])
embedded, shown = column.embedding_column(word, 3), column.indicator_column(word)
price = column.sequence_numeric_column("price")
size = column.numeric_column("size", shape=[2])
level = column.embedding_column(column.categorical_column_with_identity("level", 5), 2)
SEQUENCES, CONTEXT = [embedded, price], [size, level]


def sparse(values: Any) -> tf.SparseTensor:
    """The values that are there."""
    return tf.SparseTensor(np.argwhere(IS_THERE), values[IS_THERE], values.shape)


def input_fn(case: Case, repeat: int | None = None) -> Callable[[], Any]:
    """Batches of eight, without end."""

    def give() -> Any:
        features = {"word": sparse(WORDS), "price": sparse(PRICES), **DENSE}
        return tf.data.Dataset.from_tensor_slices((features, LABELS[case.labels])).repeat(repeat).batch(8)

    return give


def receiver_fn(api: Any) -> Any:
    """How a server is asked: serialised examples."""
    return api.export.build_parsing_serving_input_receiver_fn(
        column.make_parse_example_spec([*SEQUENCES, *CONTEXT, column.numeric_column("weight")])
    )


def _classifier(labels: str = "two", **arguments: Any) -> Case:
    def make(api: Any, **more: Any) -> Any:
        given = {key: value() if key == "optimizer" and callable(value) else value for key, value in arguments.items()}
        return api.experimental.RNNClassifier(given.pop("columns", SEQUENCES), **given, **more)

    return Case("v2", make, labels, data=input_fn, receiver=receiver_fn)


def _regressor(**arguments: Any) -> Case:
    return Case(
        "v2",
        lambda api, **more: api.experimental.RNNEstimator(
            api.RegressionHead(weight_column="weight"), SEQUENCES, **arguments, **more
        ),
        "number",
        data=input_fn,
        receiver=receiver_fn,
    )


def _stacked() -> Any:
    return tf.keras.layers.StackedRNNCells([tf.keras.layers.GRUCell(3), tf.keras.layers.LSTMCell(2)])


CASES: dict[str, Case] = {
    "v2 RNNClassifier": _classifier(columns=[embedded], units=[3]),
    "v2 RNNClassifier lstm": _classifier(
        "three", context_feature_columns=CONTEXT, units=[4, 3], cell_type="lstm", n_classes=3
    ),
    "v2 RNNClassifier gru": _classifier("words", units=[3], cell_type="gru", label_vocabulary=["no", "yes"]),
    "v2 RNNClassifier lstm layer": _classifier(columns=[shown], units=3, cell_type="lstm", weight_column="weight"),
    "v2 RNNClassifier gru layer": _classifier(columns=[price], units=3, cell_type="gru", optimizer="Adam"),
    "v2 RNNClassifier simple layer": _classifier(units=3, cell_type="simple_rnn", loss_reduction="sum"),
    "v2 RNNClassifier function": _classifier(rnn_cell_fn=_stacked),
    "v2 RNNClassifier steps": _classifier(
        "two of steps", units=[3], cell_type="lstm", return_sequences=True, weight_column="weights"
    ),
    "v2 RNNClassifier three of steps": _classifier(
        "three of steps", units=[3], cell_type="gru", return_sequences=True, n_classes=3, optimizer="Ftrl"
    ),
    "v2 RNNEstimator": _regressor(context_feature_columns=[size], units=[3], cell_type="gru"),
}


def _two_heads(case: Case) -> Callable[[], Any]:
    """The same with labels for two heads."""
    give = input_fn(case)
    return lambda: give().map(lambda features, label: (features, {"left": label, "right": label}))


# Not among the recorded ones.
TWO_HEADS = Case(
    "v2",
    lambda api, **more: api.experimental.RNNEstimator(
        api.MultiHead([api.RegressionHead(name="left"), api.RegressionHead(name="right")]), [price], units=[3], **more
    ),
    "number",
    data=_two_heads,
    receiver=receiver_fn,
)
