"""`tf.contrib` of the TF 1 namespace: what lives on is there, the rest says what to use."""

from __future__ import annotations

import sys

import numpy
import pandas
import pytest
import tensorflow

import lightwell.rnn_cell
from lightwell import tf1 as tf


def test_what_lives_on_is_the_living_thing() -> None:
    assert tf.contrib.rnn.BasicLSTMCell is lightwell.rnn_cell.BasicLSTMCell
    assert tf.contrib.rnn.static_rnn is tensorflow.compat.v1.nn.static_rnn
    assert tf.contrib.framework.nest.map_structure is tensorflow.nest.map_structure
    assert tf.contrib.framework.nest.is_sequence is tensorflow.nest.is_nested
    assert (tf.contrib.learn.ModeKeys.TRAIN, tf.contrib.learn.ModeKeys.INFER) == ("train", "infer")
    assert tf.contrib.cluster_resolver.TPUClusterResolver is tensorflow.distribute.cluster_resolver.TPUClusterResolver
    assert "BasicLSTMCell" in dir(tf.contrib.rnn)
    assert {"rnn", "layers", "tpu"} <= set(dir(tf.contrib))


def test_the_inputs_of_learn_shuffle_by_default() -> None:
    x = numpy.arange(50)
    made = [
        tf.contrib.learn.io.numpy_input_fn({"x": x}, batch_size=50),
        tf.contrib.learn.io.pandas_input_fn(pandas.DataFrame({"x": x}), batch_size=50),
        tf.contrib.learn.io.numpy_input_fn({"x": x}, batch_size=50, shuffle=False),
    ]
    with tf.Graph().as_default():
        batches = [input_fn()["x"] for input_fn in made]
        with tf.Session() as session:
            *shuffled, in_order = (batch.tolist() for batch in session.run(batches))
    assert in_order == x.tolist()
    assert all(rows != in_order and sorted(rows) == in_order for rows in shuffled)


@pytest.fixture
def without_slim(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package tf_slim is not installed."""
    monkeypatch.setitem(sys.modules, "tf_slim", None)


@pytest.mark.usefixtures("without_slim")
def test_a_name_that_is_gone_fails_where_it_is_used() -> None:
    layers, slim, solvers = tf.contrib.layers, tf.contrib.slim, tf.contrib.solvers
    with pytest.raises(AttributeError, match=r"tf\.contrib\.layers\.instance_norm is gone: .*'lightwell\[contrib\]'"):
        layers.instance_norm(1)
    with pytest.raises(AttributeError, match=r"tf\.contrib\.slim\.learning is gone: .*pip install 'lightwell"):
        _ = slim.learning
    with pytest.raises(AttributeError, match=r"Nothing under tf\.contrib\.solvers has a successor"):
        _ = solvers.lanczos
    assert not hasattr(slim, "learning")
    assert slim.conv2d is layers.conv2d
    with pytest.raises(AttributeError, match=r"tf\.contrib\.nothing_like_it is gone"):
        _ = tf.contrib.nothing_like_it


def test_what_became_a_part_of_the_estimator_is_there() -> None:
    assert tf.contrib.factorization.KMeansClustering is tf.estimator.experimental.KMeans
    assert tf.contrib.factorization.RANDOM_INIT == "random"
    with pytest.raises(AttributeError, match=r"GMM is gone: .* there is KMeansClustering"):
        _ = tf.contrib.factorization.GMM
    with pytest.raises(AttributeError, match=r"RNNClassifier is gone: .* with units for num_units"):
        _ = tf.contrib.estimator.RNNClassifier
    assert tf.contrib.tpu.TPUEstimator is tf.estimator.tpu.TPUEstimator
    assert {"CrossShardOptimizer", "RunConfig", "TPUConfig", "bfloat16_scope"} <= set(dir(tf.contrib.tpu))


@pytest.mark.usefixtures("without_slim")
def test_from_import_keeps_the_hint() -> None:
    with pytest.raises(ImportError, match="tf_slim"):
        exec("from lightwell.tf1.contrib.slim import learning", {"__builtins__": {"__import__": _slim}})
    with pytest.raises(ImportError, match=r"tf\.contrib\.opt\.ScipyOptimizerInterface is gone"):
        exec(
            "from x import ScipyOptimizerInterface",
            {"__builtins__": {"__import__": lambda *given: tf.contrib.opt}},
        )


def _slim(*given: object) -> object:
    return tf.contrib.slim
