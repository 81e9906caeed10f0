"""Which TensorFlow a source means is read from its text."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell.compat.tf1.spelling import Version, read_spelling
from lightwell.compat.tf1.spelling_names import ONLY_IN_1, ONLY_IN_2

MADE_FROM = (2, 21)  # the release that the tables were made from
TF1 = {
    "layers": "import tensorflow as tf\ny = tf.layers.dense(x, 3)",
    "optimizer": "import tensorflow as tf\ntf.train.AdamOptimizer(0.1)",
    "placeholder": "import tensorflow as tf\ntf.placeholder(tf.float32)",
    "session": "import tensorflow as tf\nwith tf.Session() as s: pass",
    "losses": "import tensorflow as tf\ntf.losses.sparse_softmax_cross_entropy(a, b)",
    "metrics": "import tensorflow as tf\ntf.metrics.accuracy(a, b)",
    "get_variable": "import tensorflow as tf\ndef f():\n  return tf.get_variable('w')",
    "contrib": "import tensorflow as tf\ntf.contrib.layers.layer_norm(x)",
    "contrib import": "from tensorflow.contrib import slim",
    "contrib module": "import tensorflow.contrib.slim as slim",
    "examples": "from tensorflow.examples.tutorials.mnist import input_data",
    "logging": "import tensorflow as tf\ntf.logging.info('x')",
    "app": "import tensorflow as tf\ntf.app.run()",
    "no alias": "import tensorflow\ntensorflow.placeholder(1)",
    "other alias": "import tensorflow as T\nT.placeholder(1)",
    "from": "from tensorflow import placeholder",
    "from namespace": "from tensorflow.train import AdamOptimizer",
    "namespace alias": "from tensorflow import train as t\nt.AdamOptimizer(1)",
    "namespace module": "import tensorflow.train as t\nt.AdamOptimizer(1)",
    "iterator": "def f(dataset):\n  return dataset.make_one_shot_iterator().get_next()",
    "iterator of a call": "import tensorflow as tf\ntf.data.TextLineDataset(f).batch(2).make_one_shot_iterator()",
    "inputs": "import tensorflow as tf\ntf.estimator.inputs.numpy_input_fn(x)",
    "tpu": "import tensorflow as tf\ntf.estimator.tpu.TPUEstimator(f)",
    "input_layer": "import tensorflow as tf\ntf.feature_column.input_layer(f, c)",
    "cells": "import tensorflow as tf\ntf.nn.rnn_cell.LSTMCell(3)",
    "summary": "import tensorflow as tf\ntf.summary.merge_all()",
    "inside a function": "def f():\n  import tensorflow as tf\n  return tf.placeholder(1)",
    "in both, one each": "import tensorflow as tf\ntf.placeholder(1)\ntf.random.set_seed(1)",
    "version guard": "import tensorflow as tf\nif tf.__version__ > '2':\n  tf = tf.compat.v1\ntf.layers.dense(x, 1)",
    "bytes with a coding line": b"# -*- coding: latin-1 -*-\nimport tensorflow as tf\nx = '\xe9'\ntf.Session()",
}
TF2 = {
    "set_seed": "import tensorflow as tf\ntf.random.set_seed(1)",
    "keras losses": "import tensorflow as tf\ntf.losses.SparseCategoricalCrossentropy()",
    "keras metrics": "import tensorflow as tf\ntf.metrics.Accuracy()",
    "writer": "import tensorflow as tf\ntf.summary.create_file_writer('x')",
    "more of it": "import tensorflow as tf\ntf.random.set_seed(1)\ntf.optimizers.Adam()\ntf.Session",
}
NEUTRAL = {
    "nothing": "",
    "no tensorflow": "import numpy as np\nnp.layers.dense",
    "estimator": "import tensorflow as tf\ntf.estimator.Estimator(f)\ntf.estimator.ModeKeys.TRAIN",
    "compat": "import tensorflow as tf\ntf.compat.v1.layers.dense(x, 3)\ntf.compat.v1.Session()",
    "compat by name": "import tensorflow.compat.v1 as tf\ntf.layers.dense(x, 3)\ntf.disable_v2_behavior()",
    "compat from": "from tensorflow.compat import v1 as tf\ntf.placeholder(1)",
    "compat function": "import tensorflow as tf\ntf.compat.v1.data.make_one_shot_iterator(d)",
    "keras": "import tensorflow as tf\ntf.keras.layers.Dense(3)\nfrom tensorflow.keras import layers",
    "in both": "import tensorflow as tf\ntf.nn.relu(tf.reshape(x, [-1]))\ntf.data.Dataset.range(3).batch(2)",
    "own attribute": "class A:\n  def f(self):\n    return self.placeholder, tf.placeholder",
    "relative": "from .tensorflow import placeholder",
    "other package": "import tensorflow_hub as tf\ntf.placeholder",
    "python 2": "print 'x'\nimport tensorflow as tf\ntf.placeholder",
    "null byte": "x = 1\0",
}


@pytest.mark.parametrize("source", TF1.values(), ids=TF1)
def test_tensorflow_1(source: str | bytes) -> None:
    assert read_spelling(source).version is Version.TF1


@pytest.mark.parametrize("source", TF2.values(), ids=TF2)
def test_tensorflow_2(source: str) -> None:
    assert read_spelling(source).version is Version.TF2


@pytest.mark.parametrize("source", NEUTRAL.values(), ids=NEUTRAL)
def test_neither(source: str) -> None:
    assert read_spelling(source).version is Version.NEUTRAL


def test_the_evidence_is_named() -> None:
    spelling = read_spelling(
        "import tensorflow as tf\ntf.train.AdamOptimizer(1)\nd.make_one_shot_iterator()\ntf.optimizers"
    )
    assert spelling.only_in_1 == ("tf.train.AdamOptimizer", ".make_one_shot_iterator()")
    assert spelling.only_in_2 == ("tf.optimizers",)


def _exists(namespace: str, name: str) -> bool:
    found = tf
    for part in filter(None, [*namespace.split("."), name]):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def test_the_tables_are_true_of_the_installed_tensorflow() -> None:
    came_back = [f"{space}.{name}" for space, names in ONLY_IN_1.items() for name in names if _exists(space, name)]
    assert came_back == []
    if tuple(map(int, tf.__version__.split(".")[:2])) < MADE_FROM:
        return  # later releases have brought more names
    gone = [f"{space}.{name}" for space, names in ONLY_IN_2.items() for name in names if not _exists(space, name)]
    assert gone == []
