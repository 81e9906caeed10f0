"""ONNX files of models, made with `tf2onnx` and called with `onnxruntime`, which the extra `onnx` installs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

pytestmark = pytest.mark.packages
v1 = tf.compat.v1
X = np.random.RandomState(0).rand(6, 8, 8, 1).astype(np.float32)
WORDS = np.array(list("abcdab"))


def network(features: Any, labels: Any, mode: str) -> Any:
    """Convolution, normalisation and pooling, a number and a class."""
    image = lw.layers.conv2d(features["image"], 4, 3, activation=tf.nn.relu)
    image = lw.layers.batch_normalization(image, training=mode == lw.ModeKeys.TRAIN)
    hidden = lw.layers.flatten(lw.layers.max_pooling2d(image, 2, 2))
    logits = lw.layers.dense(hidden, 3)
    predictions = {"probabilities": tf.nn.softmax(logits), "class": tf.argmax(logits, 1)}
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    step = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, predictions, loss, step)


def images() -> Any:
    return tf.data.Dataset.from_tensors(({"image": X}, np.arange(6) % 3))


def test_it_gives_the_same_and_keeps_the_names(tmp_path: Path) -> None:
    import onnxruntime

    made = tiny.estimator(tmp_path, network).train(images)
    result = made.export("onnx", rows=images)
    assert result.is_close, str(result)
    assert result.rows == 6
    session = onnxruntime.InferenceSession(result.path)
    assert [one.name for one in session.get_inputs()] == ["image"]
    names = [one.name for one in session.get_outputs()]
    got = dict(zip(names, session.run(names, {"image": X}), strict=True))
    expected = list(made.predict(images))
    assert sorted(got) == ["class", "probabilities"]
    assert np.allclose(got["probabilities"], [row["probabilities"] for row in expected], atol=1e-5)
    assert got["class"].tolist() == [row["class"] for row in expected]


def test_an_op_that_prevents_it_is_named(tmp_path: Path) -> None:
    def looks_up(features: Any, labels: Any, mode: str) -> Any:
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), -1
        )
        out = tf.cast(table.lookup(features["word"]), tf.float32) * v1.get_variable("w", [])
        return lw.EstimatorSpec(mode, {"out": out}, tf.reduce_sum(out), v1.assign_add(v1.train.get_global_step(), 1))

    made = tiny.estimator(tmp_path, looks_up).train(lambda: {"word": tf.constant(WORDS)}, steps=1)
    text = r"ONNX: the model cannot be converted, as ONNX has no op for HashTableV2, LookupTableFindV2\. Do this"
    with pytest.raises(ValueError, match=text):
        made.export("onnx", rows={"word": WORDS})
