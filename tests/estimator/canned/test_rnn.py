"""RNNClassifier and RNNEstimator: the life of one, steps of sequences, heads, and what they say of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.canned import sequences
from tests.estimator.canned.sequences import CASES, SEQUENCES, embedded, price, size

import lightwell as lw
import lightwell.estimator as api
from lightwell.model.heads.sequential import SequentialHeadWrapper

X = api.experimental
column = tf.feature_column


def once(labels: str) -> Callable[[], Any]:
    return sequences.input_fn(sequences._classifier(labels), repeat=1)


def test_the_life_of_a_classifier(tmp_path: Path) -> None:
    def made() -> Any:
        return X.RNNClassifier(SEQUENCES, [size], units=[3], cell_type="gru", model_dir=str(tmp_path / "model"))

    seen: list[Any] = []
    watch = lw.Watch("layers/rnn_model/rnn", "gradients/weights/rnn_model/rnn/*", every=1, do=seen.append)
    made().train(sequences.input_fn(CASES["v2 RNNClassifier"]), steps=2, hooks=[watch])
    assert len(seen) == 2
    est = made()
    est.train(sequences.input_fn(CASES["v2 RNNClassifier"]), steps=1)
    assert est.evaluate(once("two"))["global_step"] == 3
    rows = list(est.predict(once("two"), taps=["layers/rnn_model/logits", "layers/rnn_model/rnn"]))
    assert len(rows) == sequences.ROWS
    np.testing.assert_allclose(rows[0]["layers/rnn_model/logits"], rows[0]["logits"], rtol=1e-6)
    kernel, bias = est.weights["rnn_model/logits/kernel"], est.weights["rnn_model/logits/bias"]
    hidden = rows[3]["layers/rnn_model/rnn"]
    np.testing.assert_allclose(hidden @ np.asarray(kernel) + np.asarray(bias), rows[3]["logits"], rtol=1e-4, atol=1e-5)
    told = str(est.describe(once("two")).to_dict())
    for layer in ("sequence_features/word_embedding", "rnn_model/rnn", "rnn_model/logits", "dense_features/size"):
        assert layer in told


def test_a_head_of_heads_keeps_the_state_of_its_optimizer_where_the_original_does(tmp_path: Path) -> None:
    heads = [api.BinaryClassHead(name="left"), api.RegressionHead(name="right"), api.RegressionHead(name="up")]

    def labelled() -> Any:
        return once("two")().map(lambda features, label: (features, dict.fromkeys(["left", "right", "up"], label)))

    for count in (2, 3):
        est = X.RNNEstimator(api.MultiHead(heads[:count]), [price], units=[2], model_dir=str(tmp_path / str(count)))
        est.train(labelled, steps=1)
        assert f"training_{count}/Adagrad/rnn_model/logits/bias/accumulator" in est.get_variable_names()
        assert not [name for name in est.weights if name.startswith("training")]


def test_padding_behind_the_longest_sequence_counts_for_nothing(tmp_path: Path) -> None:
    def rows(more: int) -> Callable[[], Any]:
        def give() -> Any:
            prices = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 0.2, 0.9], [2, 2 + more])
            return tf.data.Dataset.from_tensors(({"price": prices}, [[0], [1]]))

        return give

    est = X.RNNClassifier([price], units=[2], cell_type="lstm", model_dir=str(tmp_path))
    est.train(rows(0), steps=1)
    short, long = ([row["logits"] for row in est.predict(rows(more))] for more in (0, 3))
    np.testing.assert_allclose(short, long, rtol=1e-6)


def test_heads_of_single_steps(tmp_path: Path) -> None:
    head = SequentialHeadWrapper(lw.RegressionHead(weight_column="weights"), "mask", "weights")
    est = X.RNNEstimator(head, [price], units=[2], return_sequences=True, model_dir=str(tmp_path), optimizer="SGD")

    def rows() -> Any:
        features = {"price": sequences.sparse(sequences.PRICES), **sequences.DENSE}
        features["mask"] = np.arange(4) < 2 + np.zeros([sequences.ROWS, 1])
        return tf.data.Dataset.from_tensor_slices((features, sequences.PRICES)).batch(sequences.ROWS)

    est.train(rows, steps=1)
    result = est.evaluate(rows)
    predicted = np.stack([row["predictions"] for row in est.predict(rows)])[:, :2, 0]
    truth, weights = sequences.PRICES[:, :2], sequences.DENSE["weights"][:, :2]
    expected = np.sum((predicted - truth) ** 2 * weights) / np.sum(weights)
    np.testing.assert_allclose(result["average_loss"], expected, rtol=1e-4)
    assert next(est.predict(rows))["mask"].tolist() == [True, True, False, False]


def _train(change: Any = tf.ragged.constant, labels: Any = ((0,), (1,)), **given: Any) -> Any:
    est = X.RNNClassifier(**{"sequence_feature_columns": [price], "units": [2], **given})
    prices = [[0.5, 0.2], [0.1, 0.3]]
    return est.train(lambda: tf.data.Dataset.from_tensors(({"price": change(prices)}, tf.constant(labels))), steps=1)


def _cell_fn() -> Any:
    return tf.keras.layers.LSTMCell(2)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "both": (
        lambda: X.RNNClassifier([price], units=[2], cell_type="lstm", rnn_cell_fn=_cell_fn),
        ValueError,
        r"RNNClassifier: units and cell_type must not be specified when using rnn_cell_fn. Got units=\[2\]",
    ),
    "cell type": (
        lambda: X.RNNClassifier([price], units=[2], cell_type="LSTM"),
        ValueError,
        r"`cell_type` should be a class producing a RNN cell, or a string .* \['simple_rnn', 'lstm', 'gru'\]",
    ),
    "no units": (lambda: X.RNNClassifier([price]), TypeError, r"units must be a list .* such as \[32, 16\], got None"),
    "units": (
        lambda: X.RNNClassifier([price], units=[0]),
        ValueError,
        r"units must hold positive whole numbers, got \[0",
    ),
    "no function": (
        lambda: X.RNNClassifier([price], rnn_cell_fn=3),
        TypeError,
        r"rnn_cell_fn must be a function without arguments that gives a cell, got 3",
    ),
    "no cell": (
        lambda: _train(units=None, rnn_cell_fn=lambda: 3),
        ValueError,
        r"rnn_cell_fn must give a cell. Argument `cell` should have a `call` method.* The RNN was passed: cell=3",
    ),
    "no sequence": (
        lambda: X.RNNClassifier([size], units=[2]),
        ValueError,
        r"must be a SequenceDenseColumn, got 'size' \(NumericColumn\).*what is no sequence goes into context",
    ),
    "embedding of no sequence": (
        lambda: X.RNNClassifier(
            [column.embedding_column(column.categorical_column_with_identity("level", 5), 2)], units=[2]
        ),
        ValueError,
        r"sequence_feature_columns must hold columns of sequences only.* got 'level_embedding' \(EmbeddingColumn\)",
    ),
    "sequence as context": (
        lambda: X.RNNClassifier([embedded], [price], units=[2]),
        ValueError,
        r"context_feature_columns must hold dense columns only.* got 'price' \(SequenceNumericColumn\)",
    ),
    "no columns": (lambda: X.RNNClassifier([], units=[2]), ValueError, r"sequence_feature_columns must not be empty"),
    "head": (
        lambda: X.RNNEstimator(lw.RegressionHead(), [price], units=[2], return_sequences=True),
        ValueError,
        r"Provided head must be a `_SequentialHead` object when `return_sequences` is set to True",
    ),
    "weights": (
        lambda: X.RNNClassifier(
            [price], units=[2], return_sequences=True, weight_column=column.numeric_column("weights")
        ),
        TypeError,
        r"Column must a string. Given type: .*NumericColumn",
    ),
    "labels": (
        lambda: _train(return_sequences=True),
        tf.errors.InvalidArgumentError,
        r"labels must have a value for each step, \[batch, steps\] or \[batch, steps, D\], with the steps of the mask",
    ),
    "labels of a known shape": (
        lambda: SequentialHeadWrapper(lw.RegressionHead()).loss(
            tf.zeros([2, 1]), tf.zeros([2, 3, 1]), {"sequence_length_mask": tf.ones([2, 3])}
        ),
        ValueError,
        r"SequentialHeadWrapper 'sequential': labels must have a value .* mask, \(2, 3\), got the shape \(2, 1\)",
    ),
    "dense": (
        lambda: _train(lambda prices: prices),
        TypeError,
        r"RNNClassifier: Input must be a SparseTensor: the feature 'price' is dense.*pass a ragged tensor",
    ),
    "feature": (
        lambda: _train(sequence_feature_columns=[column.sequence_numeric_column("prices")]),
        KeyError,
        r"RNNClassifier: Feature prices is not in features dictionary.*Near to it: \['price'\]",
    ),
    "mask": (
        lambda: SequentialHeadWrapper(lw.RegressionHead()).loss(tf.zeros([2, 3]), tf.zeros([2, 3, 1]), {"x": 1}),
        ValueError,
        r"sequence_length_mask key `sequence_length_mask` should be included in the features.* Found keys: \['x'\]",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_they_say_of_a_mistake(mistake: str) -> None:
    make, kind, text = MISTAKES[mistake]
    with pytest.raises(kind, match=rf"(?s){text}"):
        make()
