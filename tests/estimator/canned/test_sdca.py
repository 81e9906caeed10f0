"""LinearSDCA: weights as the original finds them, checkpoints of it go on, and what it says of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.canned import dual, measure
from tests.estimator.canned.cases import age, city, size
from tests.parity import recordings

import lightwell as lw
import lightwell.compat.v1.estimator as v1_face
import lightwell.estimator as v2_face

FACES = {"v1": v1_face, "v2": v2_face}
DRAWN = recordings.load_arrays("canned_draws")
SDCA = v2_face.experimental.LinearSDCA


@pytest.mark.parametrize("name", dual.CASES)
def test_a_checkpoint_of_the_original_goes_on_to_the_same_weights(name: str, tmp_path: Path) -> None:
    case, start = dual.CASES[name], recordings.under(f"start:{name}", DRAWN)
    measure.write_checkpoint(tmp_path / "model", start)
    ours = dual.trained(FACES[case.face], case, tmp_path / "model", dual.STEPS)
    theirs = recordings.under(f"end:{name}", DRAWN)
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        if key.endswith("-keys"):
            assert np.unique(ours[key], axis=0).tolist() == np.unique(value, axis=0).tolist(), "the same examples"
        elif not key.endswith("-values"):
            np.testing.assert_allclose(ours[key], value, atol=1e-4, err_msg=key)


def test_it_is_open_and_shows_how_far_it_is(tmp_path: Path) -> None:
    sdca = SDCA("id", symmetric_l2_regularization=2.0)
    config = lw.RunConfig(model_dir=str(tmp_path), save_summary_steps=1)
    est = lw.LinearClassifier([age, city], optimizer=sdca, label_vocabulary=["no", "yes"], config=config)
    case = dual._linear("v2", "LinearClassifier", "words", [age], {})
    seen: list[Any] = []
    est.train(case.data(case), steps=8, hooks=[lw.Watch("layers/linear/linear_model/*", every=1, do=seen.append)])
    assert len(seen) == 8
    assert est.evaluate(case.data(case), steps=1)["accuracy"] == 1.0
    shown = [
        (value.tag, measure._number(value))
        for path in tmp_path.glob("events*")
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
    ]
    gaps = [value for tag, value in shown if tag == "approximate_duality_gap"]
    assert abs(gaps[-1]) < gaps[0] / 10
    assert [value for tag, value in shown if tag == "examples_seen"] == [32.0] * 8


def _train(optimizer: Any, features: Any = None, **more: Any) -> Any:
    given = {"age": [[0.5], [0.7]], "city": [["rome"], ["oslo"]], "id": ["a", "b"], **(features or {})}
    est = lw.LinearClassifier(**{"feature_columns": [age], **more}, optimizer=optimizer)
    return est.train(lambda: tf.data.Dataset.from_tensors((given, [[0], [1]])), steps=1)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "l1": (
        lambda: SDCA("id", symmetric_l1_regularization=-1.0),
        ValueError,
        r"l1_regularization should be non-negative",
    ),
    "l2": (lambda: SDCA("id", symmetric_l2_regularization=0.0), ValueError, r"l2_regularization should be positive"),
    "classes": (
        lambda: lw.LinearClassifier([age], n_classes=3, optimizer=SDCA("id")),
        ValueError,
        r"LinearClassifier: LinearSDCA cannot be used in a multi-class setting: n_classes is 3, and must be 2",
    ),
    "numbers": (
        lambda: v1_face.LinearRegressor([age], label_dimension=2, optimizer=SDCA("id")),
        ValueError,
        r"LinearRegressor: LinearSDCA can only be used with one-dimensional label, got 2 logits per example",
    ),
    "combiner": (
        lambda: lw.LinearClassifier([age], sparse_combiner="mean", optimizer=SDCA("id")),
        ValueError,
        r'sparse_combiner must be "sum" when optimizer is a LinearSDCA object, got \'mean\'',
    ),
    "network": (
        lambda: lw.DNNClassifier([2], [age], optimizer=SDCA("id")),
        ValueError,
        r"is not a tf.keras.optimizers.Optimizer instance",
    ),
    "no ids": (
        lambda: _train(SDCA("ids")),
        KeyError,
        r"LinearSDCA needs the feature 'ids' \(example_id_column\), a str",
    ),
    "numbers as ids": (
        lambda: _train(SDCA("id"), {"id": [1, 2]}),
        TypeError,
        r"the ids of examples must be strings, 'id' is int32. In input_fn, use tf.strings.as_string",
    ),
    "indicator": (
        lambda: _train(SDCA("id"), feature_columns=[tf.feature_column.indicator_column(city)]),
        ValueError,
        r"Column IndicatorColumn has rank 2, larger than 1: LinearSDCA cannot use 'city_indicator'. Pass the",
    ),
    "pieces": (
        lambda: v1_face.LinearClassifier(
            [size], optimizer=SDCA("id"), partitioner=tf.compat.v1.fixed_size_partitioner(2)
        ).train(lambda: tf.data.Dataset.from_tensors(({"size": [[0.5, 0.7]], "id": ["a"]}, [[0]])), steps=1),
        ValueError,
        r"LinearSDCA needs the weights of each column in one piece, those of 'size' are in 2. Leave out partitioner",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_it_says_of_a_mistake(mistake: str) -> None:
    make, kind, text = MISTAKES[mistake]
    with pytest.raises(kind, match=rf"(?s){text}"):
        make()
