"""Every ready-made model, in both faces, is open, and nobody's looking changes it; every head lives in one of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.contracts.ready_made import (
    ARGUMENTS,
    BATCH,
    FACES,
    FEATURES,
    HEADS,
    IN_BOTH_FACES,
    LAYERS,
    ROWS,
    data,
    labels_of,
    made,
    model_of,
    raw_receiver,
)
from tests.contracts.runs import events, plain
from tests.parity import model_dirs

import lightwell as lw

STEPS = 3
SLOW = [pytest.mark.slow]
# The faces differ in heads and defaults, which a classifier of each kind has; the rest of v1 takes a minute more.
EACH = [
    pytest.param(face, name, marks=SLOW if face == "v1" and not name.endswith("Classifier") else [])
    for face, name in IN_BOTH_FACES
]


@dataclass(frozen=True)
class Pair:
    """The same training twice: nobody looks at the first, everybody at the second."""

    alone: Path
    watched: Path
    seen: list[Mapping[str, Any]]


Trained = Callable[[str, str], Pair]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    @functools.cache
    def pair(face: str, name: str) -> Pair:
        folder, seen = tmp_path_factory.mktemp("ready"), list[Any]()
        everything = ["features/age", "labels", "loss", "layers/*", "gradients/weights/*", "gradients/layers/*"]
        watches = [
            lw.Watch(*everything, every=1, do=seen.append),
            lw.Watch(lw.stats("layers/*"), "updates/weights/*", every=2, do=lambda step: None),
        ]
        for kind, hooks in (("alone", []), ("watched", watches)):
            made(face, name, folder / kind).train(data(labels_of(name), None), steps=STEPS, hooks=hooks)
        return Pair(folder / "alone", folder / "watched", seen)

    return pair


@pytest.mark.parametrize(("face", "name"), EACH)
def test_looking_changes_no_bit(face: str, name: str, trained: Trained) -> None:
    both = trained(face, name)
    assert plain(model_dirs.values(both.watched)) == plain(model_dirs.values(both.alone))
    assert events(both.watched) == events(both.alone)
    assert len(both.seen) == STEPS


@pytest.mark.parametrize(("face", "name"), EACH)
def test_predictions_with_taps_are_those_without(face: str, name: str, trained: Trained) -> None:
    est, model = made(face, name, trained(face, name).alone), model_of(name)
    asked = data(labels_of(name))
    paths = [f"layers/{layer}" for layer in LAYERS[model]]
    rows, tapped = list(est.predict(asked)), list(est.predict(asked, taps=paths))
    assert [{key: plain(row[key]) for key in alone} for row, alone in zip(tapped, rows, strict=True)] == [
        plain(dict(row)) for row in rows
    ]
    logits = _logits(model, {path: np.stack([row[path] for row in tapped]) for path in paths})
    told = "logits" if name.endswith("Classifier") else "predictions"
    np.testing.assert_allclose(np.stack([row[told] for row in rows]), logits, rtol=1e-5, atol=1e-6)
    if "DNN" in model:
        inside = {name.removeprefix("layers/"): np.stack([row[name] for row in tapped]) for name in paths}
        below = inside["dnn/input_from_feature_columns/input_layer"]
        kernel, bias = (est.get_variable_value(f"dnn/hiddenlayer_0/{part}") for part in ("kernel", "bias"))
        np.testing.assert_allclose(
            inside["dnn/hiddenlayer_0"], np.maximum(below @ kernel + bias, 0), rtol=1e-4, atol=1e-6
        )
        np.testing.assert_array_equal(below[:, :1], FEATURES["age"])


def _logits(model: str, values: Mapping[str, Any]) -> Any:
    if model == "DNNLinearCombined":
        return values["layers/dnn/logits"] + values["layers/linear"]
    return values[{"Baseline": "layers/baseline/logits", "Linear": "layers/linear", "DNN": "layers/dnn/logits"}[model]]


@pytest.mark.parametrize(("face", "name"), EACH)
def test_gradients_are_those_of_the_loss(face: str, name: str, trained: Trained) -> None:
    """Held against the chain rule, from what the same step showed."""
    for step in trained(face, name).seen:
        if model_of(name) == "Baseline":
            got, of_logits = _weights(step, "baseline/bias"), step["gradients/layers/baseline/logits"]
            np.testing.assert_allclose(got, of_logits.sum(axis=0), rtol=1e-5, atol=1e-7)
        if "Linear" in name:
            of_logits, age = step["gradients/layers/linear"], step["features/age"]
            got = _weights(step, "linear/linear_model/age/weights")
            np.testing.assert_allclose(got, age.T @ of_logits, rtol=1e-4, atol=1e-6)
        if "DNN" in name:
            hidden, of_logits = step["layers/dnn/hiddenlayer_1"], step["gradients/layers/dnn/logits"]
            got = _weights(step, "dnn/logits/kernel")
            np.testing.assert_allclose(got, hidden.T @ of_logits, rtol=1e-4, atol=1e-6)


def _weights(step: Mapping[str, Any], variable: str) -> Any:
    """A variable's gradient; on the v1 face it may be a piece."""
    (found,) = [value for path, value in step.items() if path.startswith(f"gradients/weights/{variable}")]
    return found


@pytest.mark.parametrize(("face", "name"), EACH)
def test_it_is_described_with_its_columns_as_leaves(face: str, name: str, trained: Trained) -> None:
    est = made(face, name, trained(face, name).alone)
    assert set(LAYERS[model_of(name)]) == set(est.layers), "as the training kept it"
    if face == "v1":
        return
    told = est.describe(data(labels_of(name)))
    assert {layer.name for layer in told.layers} == set(est.layers)
    lines = str(told).splitlines()
    for layer in LAYERS[model_of(name)]:
        parts = layer.split("/")
        assert any(line.startswith("  " * (len(parts) - 1) + f"{parts[-1]} ") for line in lines), f"{layer} in\n{told}"
    kinds = {layer.name.rpartition("/")[2]: layer.kind for layer in told.layers if layer.name.count("/") > 1}
    if "Linear" in name:
        assert (kinds["age"], kinds["city"]) == ("NumericColumn", "VocabularyListCategoricalColumn")
    if "DNN" in name:
        assert kinds["city_embedding"] == "EmbeddingColumn"


@pytest.mark.parametrize("face", [pytest.param(face, marks=SLOW if face == "v1" else []) for face in FACES])
@pytest.mark.parametrize("head", HEADS)
def test_the_life_of_a_head(head: str, face: str, tmp_path: Path) -> None:
    """Trained, resumed by another object, evaluated, predicted, exported, served; on each model in turn."""
    make, labels = HEADS[head]
    name = f"{list(ARGUMENTS)[(list(HEADS).index(head) + list(FACES).index(face)) % len(ARGUMENTS)]}Estimator"
    for steps in (2, 1):
        est = made(face, name, tmp_path / "model", head=make())
        est.train(data(labels(), None), steps=steps)
    result = est.evaluate(data(labels()))
    assert result["global_step"] == 3
    assert np.isfinite(result["loss"])
    rows = [
        {"/".join([key] if isinstance(key, str) else key): row[key] for key in row}
        for row in est.predict(data(labels()))
    ]
    assert len(rows) == ROWS
    if face == "v1":
        return
    served = tf.saved_model.load(est.export_saved_model(str(tmp_path / "export"), raw_receiver).decode())
    answer = served.signatures["predict"](**{key: tf.constant(value) for key, value in FEATURES.items()})
    numbers = [key for key in answer if key in rows[0] and answer[key].dtype.is_floating]
    assert numbers
    for key in numbers:
        np.testing.assert_allclose(answer[key], np.stack([row[key] for row in rows]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("face", "name"), [("v1", "DNNEstimator"), ("v2", "LinearEstimator")])
def test_sparse_and_ragged_labels(face: str, name: str, tmp_path: Path) -> None:
    """Several classes of each example, in any form, train the same weights."""
    classes = [[0], [0, 2], [], [1]] * (ROWS // 4)
    hot = np.array([[one in of_row for one in range(3)] for of_row in classes]).astype(np.int64)
    words = [["abc"[one] for one in of_row] for of_row in classes]
    forms: dict[str, Callable[[], Any]] = {
        "dense": lambda: hot,
        "sparse": lambda: tf.ragged.constant(classes, dtype=tf.int64).to_sparse(),
        "ragged": lambda: tf.ragged.constant(classes, dtype=tf.int64),
        "words": lambda: tf.ragged.constant(words),
    }
    weights = []
    for form, labels in forms.items():
        head = lw.MultiLabelHead(3, label_vocabulary=["a", "b", "c"] if form == "words" else None)
        made(face, name, tmp_path / form, head=head).train(lambda labels=labels: data(labels())(), steps=2)
        weights.append(plain(model_dirs.values(tmp_path / form)))
    assert all(one == weights[0] for one in weights)


def _unknown_rank(labels: Any) -> Callable[[], Any]:
    return lambda: data(labels)().map(lambda x, y: (x, tf.numpy_function(lambda value: value, [y], y.dtype)))


GOOD = np.zeros((ROWS, 1), np.int64)
BAD = np.where(np.arange(ROWS)[:, np.newaxis] == BATCH + 1, 7, 0)  # in the second batch
MAYBE = np.where(BAD == 7, "maybe", "no")
# Name of a model, what else it is given, the labels, what the text must hold.
BAD_LABELS: dict[str, tuple[str, dict[str, Any], Any, tuple[str, ...]]] = {
    "a class that is not there": (
        "LinearClassifier",
        {"n_classes": 3},
        data(BAD),
        ("Label IDs must < n_classes", "from 0 to 2. Check n_classes", "Got] [7]", "batch 2"),
    ),
    "a third class of two": ("BaselineClassifier", {}, data(BAD), ("from 0 to 1", "Got] [7]", "batch 2")),
    "a word that is not in the vocabulary": (
        "DNNClassifier",
        {"label_vocabulary": ["no", "yes"]},
        data(MAYBE),
        ("Spell the labels as label_vocabulary", "It has 2 entries: no, yes. Got] [maybe]", "batch 2"),
    ),
    "more numbers than asked for": (
        "DNNLinearCombinedRegressor",
        {},
        _unknown_rank(np.ones((ROWS, 3), np.float32)),
        ("labels shape must be [D0, D1, ... DN, 1]", "Logits:] [4 1] [got:] [4 3]", "batch 1"),
    ),
    "numbers with a point for classes": (
        "LinearClassifier",
        {"n_classes": 3},
        data(GOOD.astype(np.float32)),
        ("Labels dtype should be integer. Instead got <dtype: 'float32'>", "tf.cast(labels, tf.int64)"),
    ),
    "words for numbers": ("DNNRegressor", {}, data(MAYBE), ("the labels must be numbers, got strings",)),
    "one-hot for a class": (
        "DNNClassifier",
        {"n_classes": 3},
        data(np.eye(3, dtype=np.int64)[GOOD[:, 0]]),
        ("Mismatched label shape. Expected labels dimension=1.  Received 3", "tf.argmax(labels, -1)"),
    ),
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels_are_told(case: str, face: str, tmp_path: Path) -> None:
    name, more, labels, parts = BAD_LABELS[case]
    at_build = not any("batch" in part for part in parts)
    kind = ValueError if at_build else tf.errors.InvalidArgumentError
    with pytest.raises(kind) as caught:
        made(face, name, tmp_path, **more).train(labels)
    for part in parts:
        assert part in str(caught.value)
