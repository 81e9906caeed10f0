"""What an edit draws, or is made of, is apart from the model; what is seen of a value that it changes is what comes of
it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


def noisy(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
    """A model that draws numbers of its own."""
    features = {"x": features["x"] + tf.random.normal([4])}
    return tiny.linear(features, labels, mode, params)


def sometimes(x: Any) -> Any:
    return tf.random.uniform(tf.shape(x)) < 0.5


@pytest.mark.parametrize("edit", [lw.scale("features/x", 1.0, where=sometimes), lw.apply("features/x", tf.identity)])
def test_a_random_choice_leaves_the_random_numbers_of_the_model_alone(edit: Any, tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, noisy, params={}, tf_random_seed=7)
    made.train(tiny.data, steps=1)
    plain, edited = made.evaluate(tiny.once), made.evaluate(tiny.once, edits=[edit])
    assert edited == plain


def test_a_random_choice_is_a_choice(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1, tf_random_seed=7)
    rows = list(
        made.predict(lambda: tiny.data(repeat=20), edits=[lw.zero("features/x", where=sometimes)], taps="features/x")
    )
    share = np.mean([row["features/x"] == 0.0 for row in rows])
    assert 0.3 < share < 0.7


@pytest.mark.parametrize("fuse_steps", ["auto", False])
def test_a_watch_shows_the_gradients_that_the_optimizer_gets(tmp_path: Path, fuse_steps: Any) -> None:
    seen: list[Any] = []
    made = tiny.estimator(tmp_path, fuse_steps=fuse_steps, params={"learning_rate": 1.0})
    paths = "gradients/weights/w", "gradients/weights/b", "updates/weights/w"
    watch = lw.Watch(*paths, every=1, do=lambda step: seen.append(dict(step)))
    made.train(tiny.data, steps=2, hooks=[watch], edits=[lw.clip("gradients/weights/w", value=0.125)])
    for step in seen:
        assert abs(step["gradients/weights/w"]) == 0.125
        assert abs(step["gradients/weights/b"]) > 0.125, "no edit meant it"
        assert step["updates/weights/w"] == pytest.approx(-step["gradients/weights/w"], rel=1e-4)
    seen.clear()
    tiny.estimator(tmp_path / "plain").train(tiny.data, steps=1, hooks=[watch])
    assert abs(seen[0]["gradients/weights/w"]) > 1.0


def test_gradients_of_features_beside_sparse_and_ragged_ones(tmp_path: Path) -> None:
    def data() -> Any:
        x = np.arange(8, dtype=np.float32).reshape(4, 2)
        features = {
            "x": x,
            "s": tf.sparse.from_dense(np.eye(4, dtype=np.float32)),
            "r": tf.ragged.constant([[1.0], [2.0, 3.0], [], [4.0]]),
        }
        return tf.data.Dataset.from_tensor_slices((features, x[:, :1])).batch(2).repeat()

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        beside = tf.sparse.reduce_sum(features["s"], axis=1) + tf.reduce_sum(features["r"], axis=1)
        out = lw.layers.dense(features["x"], 1, kernel_initializer=v1.ones_initializer()) + beside[:, None]
        loss = tf.reduce_mean(tf.square(out - labels))
        optimizer = v1.train.GradientDescentOptimizer(0.01)
        return lw.EstimatorSpec(mode, out, loss, optimizer.minimize(loss, v1.train.get_global_step()))

    seen: dict[str, Any] = {}
    watch = lw.Watch("gradients/*", every=1, do=lambda step: seen.update(step))
    lw.Estimator(model_fn, str(tmp_path)).train(data, steps=1, hooks=[watch])
    kernel, inner = seen["gradients/weights/dense/kernel"], seen["gradients/layers/dense"]
    np.testing.assert_allclose(seen["gradients/features/x"], np.repeat(inner, 2, axis=1), rtol=1e-6)
    assert kernel.shape == (2, 1)
    assert set(seen) == {f"gradients/{name}" for name in ("features/x", "layers/dense")} | {
        f"gradients/weights/dense/{name}" for name in ("kernel", "bias")
    }
