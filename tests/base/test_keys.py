"""The words that programs, checkpoints and servers depend on."""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow as tf

from lightwell.base import keys

RECORD = json.loads((Path(__file__).parents[1] / "data/oracle-2.15.1/estimator_names.json").read_text())


def test_modes_are_the_strings_of_tf_estimator() -> None:
    assert (keys.ModeKeys.TRAIN, keys.ModeKeys.EVAL, keys.ModeKeys.PREDICT) == ("train", "eval", "infer")


def test_names_on_disk() -> None:
    assert (keys.CHECKPOINT_PREFIX, keys.CHECKPOINT_STATE) == ("model.ckpt", "checkpoint")
    assert (keys.GLOBAL_STEP, keys.LOSS, keys.AVERAGE_LOSS) == ("global_step", "loss", "average_loss")


def test_words_of_heads_are_those_of_tf_estimator() -> None:
    for words in (keys.MetricKeys, keys.PredictionKeys):
        assert {key: value for key, value in vars(words).items() if not key.startswith("_")} == RECORD[words.__name__]
    assert RECORD["serving_keys"] == {
        "CLASSIFY_SERVING_KEY": keys.CLASSIFY_SERVING_KEY,
        "DEFAULT_SERVING_KEY": keys.DEFAULT_SERVING_SIGNATURE,
        "PREDICT_SERVING_KEY": keys.PREDICT_SERVING_KEY,
        "REGRESS_SERVING_KEY": keys.REGRESS_SERVING_KEY,
    }


def test_tensorflows_hooks_find_the_read_of_the_step_where_we_put_it(tmp_path: Path) -> None:
    """TensorFlow keeps the name of that collection to itself."""
    with tf.Graph().as_default() as graph:
        tf.compat.v1.train.create_global_step()
        tf.compat.v1.train.StepCounterHook(output_dir=str(tmp_path)).begin()
        assert keys.GLOBAL_STEP_READ_COLLECTION in graph.get_all_collection_keys()
