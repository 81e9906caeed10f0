"""`classifier_parse_example_spec` and `regressor_parse_example_spec`: as tf.estimator 2.15 gave them, and used."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests.model.feature_columns.parse_scenes import GIVEN, REFUSED, plain, refusal, shared
from tests.parity import recordings

import lightwell as lw
from lightwell.compat.v1 import estimator as v1_estimator

RECORDED = recordings.load_json("parse_specs")
FACES = {"v1": v1_estimator, "v2": lw.estimator}


def test_all_is_recorded() -> None:
    assert list(GIVEN) == list(RECORDED["given"])
    assert list(REFUSED) == list(RECORDED["refused"])


@pytest.mark.parametrize("name", GIVEN)
def test_given(name: str) -> None:
    for key, face in FACES.items():
        assert json.loads(json.dumps(plain(GIVEN[name](face)))) == RECORDED["given"][name][key]


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    scene, words = REFUSED[name]
    for key, face in FACES.items():
        kind, text = RECORDED["refused"][name][key]
        assert words in text
        with pytest.raises(getattr(builtins, kind)) as caught:
            scene(face)
        assert words in str(caught.value)


def test_a_refusal_says_where_and_what_to_do() -> None:
    for name, (scene, _) in REFUSED.items():
        kind, text = refusal(scene, lw.estimator)
        if kind == "ValueError":
            assert text.startswith(("classifier_parse_example_spec: ", "regressor_parse_example_spec: ")), name
            assert any(word in text for word in ("Leave ", "Pass ")), name


def test_columns_that_share_an_embedding() -> None:
    """The original's faces took the columns of one kind each; ours take both."""
    for face in FACES.values():
        old = tf.compat.v1.feature_column.shared_embedding_columns
        assert shared(face, old) == RECORDED["shared"]["v1"]
        assert shared(face, tf.feature_column.shared_embeddings) == RECORDED["shared"]["v2"]


def test_a_dataset_is_parsed_with_it(tmp_path: Path) -> None:
    columns = [tf.feature_column.numeric_column("age")]
    spec = lw.estimator.classifier_parse_example_spec(columns, "bought", weight_column="w")
    path = str(tmp_path / "rows")
    with tf.io.TFRecordWriter(path) as writer:
        for row in range(4):
            writer.write(_example(age=[float(row)], bought=[row % 2], w=[0.5]).SerializeToString())

    def input_fn() -> Any:
        dataset = tf.data.TFRecordDataset(path).batch(2).map(lambda rows: tf.io.parse_example(rows, spec))
        return dataset.map(lambda row: (row, row.pop("bought")))

    def model_fn(features: Any, mode: str) -> Any:
        tf.compat.v1.get_variable("unused", [])
        return lw.EstimatorSpec(mode, predictions=features)

    rows = list(lw.Estimator(model_fn, tmp_path / "model").predict(input_fn))
    assert [float(row["age"][0]) for row in rows] == [0.0, 1.0, 2.0, 3.0]
    assert [float(row["w"][0]) for row in rows] == [0.5] * 4


def _example(**values: list[Any]) -> Any:
    def feature(given: list[Any]) -> Any:
        if isinstance(given[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=given))
        return tf.train.Feature(float_list=tf.train.FloatList(value=given))

    return tf.train.Example(features=tf.train.Features(feature={key: feature(given) for key, given in values.items()}))
