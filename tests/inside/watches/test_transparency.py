"""Looking changes nothing: weights, losses and predictions are the same to the last bit, watched or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.paths import models

import lightwell as lw

STEPS = 9
READABLE = ["features", "labels", "layers/*", "layers/*/input", "weights/*", "slots/*", "gradients/*"]
REST = ["updates/*", "predictions", "loss", "learning_rate", "global_step", "collections"]
# The layers of the first are those that the second ends in.
KINDS = [
    pytest.param(models.mlp, marks=pytest.mark.slow),
    models.cnn,
    models.lstm,
    models.keras_net,
    models.columns_net,
]


def _ignore(step: Any) -> None:
    """What a watch does that only looks."""


def _watches() -> list[Any]:
    """Watches on everything: step 2 is seen raw, step 5 raw and reduced, the others by nobody."""
    return [
        lw.Watch(*READABLE, *REST, "timing/*", at=[2, 5], do=_ignore),
        lw.Watch(lw.stats(*READABLE, *REST), at=[5], do=_ignore),
    ]


def _train(model_fn: Any, directory: Path, fuse_steps: Any, hooks: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """All variables after a short training, and its losses."""
    losses: list[Any] = []
    every_loss = lw.Watch("loss", every=1, do=lambda step: losses.append(step["loss"]))
    made = models.estimator(model_fn, directory, fuse_steps=fuse_steps)
    made.train(models.data, steps=STEPS, hooks=[*hooks, every_loss])
    return _variables(made), losses


def _variables(made: lw.Estimator) -> dict[str, Any]:
    return {name: made.get_variable_value(name) for name in made.get_variable_names()}


def _differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    assert one.keys() == other.keys()
    return [name for name in one if not np.array_equal(one[name], other[name])]


@pytest.mark.parametrize("model_fn", KINDS, ids=lambda f: f.__name__)
def test_training_is_the_same_watched_or_not(model_fn: Any, tmp_path: Path) -> None:
    unseen = models.estimator(model_fn, tmp_path / "nobody looks").train(models.data, steps=STEPS)
    weights = _variables(unseen)
    plain, losses = _train(model_fn, tmp_path / "one by one", False, [])
    assert _differences(weights, plain) == []
    assert len(losses) == STEPS
    for fuse_steps in ("auto", False):
        watched, seen_losses = _train(model_fn, tmp_path / f"watched {fuse_steps}", fuse_steps, _watches())
        assert _differences(weights, watched) == []
        assert seen_losses == losses


@pytest.mark.parametrize("model_fn", KINDS, ids=lambda f: f.__name__)
def test_predictions_and_metrics_are_the_same_tapped_or_not(model_fn: Any, tmp_path: Path) -> None:
    made = models.estimator(model_fn, tmp_path).train(models.data, steps=3)
    plain = list(made.predict(models.once))
    tapped = list(made.predict(models.once, taps=["features", "layers/*", "layers/*/input", "weights/*"]))
    for row, seen in zip(plain, tapped, strict=True):
        assert all(np.array_equal(row[key], seen[key]) for key in row)
    untapped = made.evaluate(models.once)
    watch = lw.Watch("layers/*", "gradients/*", "metrics/*", "predictions", every=1, do=_ignore)
    with_taps = made.evaluate(models.once, hooks=[watch], taps=["layers/*", "gradients/weights/*", "labels"])
    assert dict(with_taps) == untapped


@pytest.mark.parametrize("fuse_steps", ["auto", False])
def test_what_is_done_to_a_value_that_was_read_stays_with_the_reader(tmp_path: Path, fuse_steps: Any) -> None:
    def spoil(step: Any) -> None:
        for value in step.values():
            if np.ndim(value):
                value[...] = 0

    def cached() -> Any:
        return models.once().cache().repeat()

    paths = ["features/x", "labels", "layers/*", "weights/*", "slots/*", "gradients/weights/*"]
    weights = []
    for hooks in ([], [lw.Watch(*paths, every=1, do=spoil)]):
        made = models.estimator(models.mlp, tmp_path / str(len(hooks)), fuse_steps=fuse_steps)
        made.train(cached, steps=6, hooks=hooks)
        weights.append({name: made.weights[name] for name in made.weights})
    assert _differences(*weights) == []


def _residual(features: Any, mode: str) -> Any:
    x = lw.layers.conv2d(features["x"], 8, 3, padding="same", activation=tf.nn.relu)
    x = tf.nn.relu(x + lw.layers.conv2d(x, 8, 3, padding="same"))
    x = lw.layers.dense(lw.layers.flatten(x), 32)
    for _ in range(2):
        x = tf.nn.relu(lw.layers.dense(x, 32) + x)
    return lw.EstimatorSpec(mode, {"y": lw.layers.dense(x, 3)})


def _joined_by_tensorflow(features: Any, mode: str) -> Any:
    x = lw.layers.conv2d(features["x"], 8, 3, padding="same", use_bias=False)
    x = tf.nn.relu(lw.layers.batch_normalization(x))
    x = tf.nn.elu(lw.layers.conv2d(x, 8, 3, padding="same"))
    x = lw.layers.flatten(x)
    for activation in (tf.nn.gelu, tf.nn.tanh, tf.nn.sigmoid, tf.nn.elu):
        x = activation(lw.layers.dense(x, 32))
    return lw.EstimatorSpec(mode, {"y": x})


def _as_written() -> Any:
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.remapping = config.graph_options.rewrite_options.OFF
    return config


@pytest.mark.parametrize(("model_fn", "session_config"), [(_residual, None), (_joined_by_tensorflow, _as_written())])
def test_ops_behind_a_layer_compute_the_same(model_fn: Any, session_config: Any, tmp_path: Path) -> None:
    """TensorFlow may compute both in one where nobody reads the layer; the docs tell when, and what to do."""
    x = np.random.default_rng(0).standard_normal([64, 8, 8, 3]).astype(np.float32)
    est = lw.Estimator(model_fn, config=lw.RunConfig(str(tmp_path), tf_random_seed=1, session_config=session_config))
    with est.predictor({"x": tf.TensorSpec([None, 8, 8, 3])}) as p:
        np.testing.assert_array_equal(p({"x": x})["y"], p({"x": x}, taps=["layers/*"])["y"])
