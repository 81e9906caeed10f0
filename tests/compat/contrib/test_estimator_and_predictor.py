"""`tf.contrib.estimator`, `predictor`, `distribute` and what is imported from behind namespaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell import tf1
from lightwell.compat.tf1.contrib import import_below

v1 = tf.compat.v1
contrib = tf1.contrib


def imported(module: str, names: list[str]) -> Any:
    """What `from tensorflow.contrib.<module> import <names>` sees."""
    namespace, *path = module.split(".")
    return import_below(namespace, path, names)


def serving() -> Any:
    x = v1.placeholder(tf.float32, [None], name="x")
    return tf1.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def test_gradients_are_clipped_together() -> None:
    """3, 4 and 12 have the norm 13; TensorFlow 1.15.5 gave the same weights."""
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", initializer=tf.constant([1.0, 2.0]))
        b = v1.get_variable("b", initializer=tf.constant([3.0]))
        optimizer = contrib.estimator.clip_gradients_by_norm(v1.train.GradientDescentOptimizer(1.0), 1.0)
        train_op = optimizer.minimize(3 * w[0] + 4 * w[1] + 12 * b[0])
        session.run(v1.global_variables_initializer())
        session.run(train_op)
        np.testing.assert_allclose(session.run(w), [0.7692307, 1.6923077], rtol=1e-6)
        np.testing.assert_allclose(session.run(b), [2.076923], rtol=1e-6)


def test_one_tower_is_the_model_itself(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
        optimizer = contrib.estimator.TowerOptimizer(v1.train.MomentumOptimizer(0.001, 0.9))
        return lw.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step()))

    estimator = lw.Estimator(contrib.estimator.replicate_model_fn(model_fn), str(tmp_path))
    estimator.train(tiny.data, steps=2)
    assert estimator.get_variable_names() == ["global_step", "w", "w/Momentum"]
    with pytest.raises(ValueError, match=r"several devices .* need a strategy"):
        contrib.estimator.replicate_model_fn(model_fn, devices=["/gpu:0", "/gpu:1"])


def test_predictors_and_exports(tmp_path: Path) -> None:
    estimator = tiny.trained(tmp_path / "model")
    folder = contrib.estimator.export_saved_model_for_mode(estimator, str(tmp_path / "export"), serving)
    wanted = [row["out"] for row in estimator.predict(tiny.once)]
    for predict_fn in (
        contrib.predictor.from_estimator(estimator, serving),
        contrib.predictor.from_saved_model(folder),
        contrib.predictor.from_saved_model(folder, signature_def_key="serving_default"),
    ):
        np.testing.assert_allclose(predict_fn({"x": tiny.X})["out"], wanted, rtol=1e-6)
        assert list(predict_fn.feed_tensors) == ["x"]
        assert predict_fn.fetch_tensors["out"].graph is predict_fn.graph is predict_fn.feed_tensors["x"].graph
        assert repr(predict_fn) == "Predictor with feed tensors {x} and fetch_tensors {out, twice}"
        predict_fn.close()
    with pytest.raises(ValueError, match="input_names is not offered; pass signature_def_key"):
        contrib.predictor.from_saved_model(folder, input_names={"x": "x:0"})
    with pytest.raises(ValueError, match="output_key is not offered"):
        contrib.predictor.from_estimator(estimator, serving, output_key="x")


def test_strategies_by_their_old_arguments(tmp_path: Path) -> None:
    distribute = contrib.distribute
    strategy = distribute.MirroredStrategy(num_gpus=0)
    assert isinstance(strategy, tf.compat.v1.distribute.MirroredStrategy)
    assert strategy.num_replicas_in_sync == 1
    assert distribute.OneDeviceStrategy("/cpu:0").num_replicas_in_sync == 1
    config = distribute.DistributeConfig(train_distribute=strategy)
    assert (config.train_distribute, config.remote_cluster) == (strategy, None)
    assert type(distribute.AllReduceCrossDeviceOps("hierarchical_copy")).__name__ == "HierarchicalCopyAllReduce"
    assert contrib.distribute.has_distribution_strategy() is False


@pytest.mark.parametrize(
    ("module", "name", "attribute"),
    [
        ("rnn.python.ops", "rnn_cell", "LSTMBlockCell"),
        ("rnn.python.ops", "core_rnn_cell", "BasicLSTMCell"),
        ("rnn.python.ops", "lstm_ops", "LSTMBlockFusedCell"),
        ("training.python.training", "hparam", "HParams"),
        ("learn.python.learn", "learn_runner", "run"),
        ("learn.python.learn.estimators", "run_config", "RunConfig"),
        ("learn.python.learn.datasets", "base", "load_csv_with_header"),
        ("learn.python.learn", "monitors", None),
        ("crf.python.ops", "crf", "crf_log_likelihood"),
        ("data.python.ops", "batching", "map_and_batch"),
        ("opt.python.training", "weight_decay_optimizers", "AdamWOptimizer"),
        ("summary", "summary", "scalar"),
        ("tensorboard.plugins", "projector", None),
        ("lookup", "index_table_from_file", None),
        ("boosted_trees.python.utils", "losses", None),
        ("tensor_forest.client", "random_forest", None),
        ("seq2seq.python.ops", "helper", None),
    ],
)
def test_what_programs_import_from_behind(module: str, name: str, attribute: str | None) -> None:
    found = getattr(imported(module, [name]), name, None)
    if attribute is not None:
        assert callable(getattr(found, attribute))


def test_what_stays_absent_fails_at_use() -> None:
    forest = imported("tensor_forest.client", ["random_forest"]).random_forest
    with pytest.raises(AttributeError, match=r"random_forest\.TensorForestEstimator is gone.*decision forest library"):
        forest.TensorForestEstimator(1)
    with pytest.raises(AttributeError, match=r"tf\.contrib\.quantize\.create_training_graph is gone"):
        contrib.quantize.create_training_graph()
