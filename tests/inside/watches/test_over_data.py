"""`evaluate(taps=...)`: statistics per unit over the data, against NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.inside.paths import models
from tests.inside.paths.models import AGES, DIGITS

import lightwell as lw


def _uneven() -> Any:
    """The data in batches of different sizes."""
    return models.once().unbatch().batch(7)


def test_statistics_are_those_of_all_examples(trained: lw.Estimator) -> None:
    paths = ["layers/hidden", "layers/conv2d", "features/age", "labels", "gradients/layers/hidden"]
    plain = trained.evaluate(_uneven)
    result = trained.evaluate(_uneven, taps=paths)
    assert dict(result) == plain
    assert list(result.taps) == paths
    rows = list(trained.predict(_uneven, taps=["layers/hidden", "layers/conv2d"]))
    values = {path: np.stack([row[path] for row in rows]).astype(np.float64) for path in paths[:2]}
    values |= {"features/age": AGES.astype(np.float64), "labels": DIGITS.astype(np.float64)}
    for path, x in values.items():
        seen = result.taps[path]
        assert seen.count == 24
        np.testing.assert_allclose(seen.mean, x.mean(0), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(seen.std, x.std(0), rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(seen.min, x.min(0))
        np.testing.assert_array_equal(seen.max, x.max(0))
        np.testing.assert_array_equal(seen.zeros, (x == 0).mean(0))
    assert result.taps["gradients/layers/hidden"].mean.shape == (5,)


def test_large_means_do_not_eat_the_deviation(tmp_path: Path) -> None:
    far = (1e6 + np.arange(8)).astype(np.float32)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(({"x": far}, far)).batch(3)

    made = tiny.trained(tmp_path, steps=1)
    seen = made.evaluate(input_fn, taps="features/x").taps["features/x"]
    assert float(seen.std) == pytest.approx(np.arange(8).std(), rel=1e-9)


def test_values_without_examples_count_once_per_batch(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path)
    seen = made.evaluate(tiny.once, taps=["weights/w", "loss", "gradients/weights/w"]).taps
    assert seen["weights/w"].count == seen["loss"].count == 2
    assert float(seen["weights/w"].mean) == pytest.approx(float(made.weights["w"]))
    assert float(seen["weights/w"].std) == 0
    assert seen["gradients/weights/w"].min < seen["gradients/weights/w"].max


def test_sizes_that_differ_from_batch_to_batch_are_summed_over(tmp_path: Path) -> None:
    lengths = [2, 3, 5, 1, 4, 4]
    words = [np.arange(1, n + 1, dtype=np.float32) for n in lengths]

    def input_fn() -> Any:
        def examples() -> Any:
            yield from ({"x": np.float32(len(word)), "words": word} for word in words)

        spec = {"x": tf.TensorSpec([], tf.float32), "words": tf.TensorSpec([None], tf.float32)}
        data = tf.data.Dataset.from_generator(examples, output_signature=spec)
        return data.padded_batch(2).map(lambda features: (features, features["x"]))

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        pairs = tf.stack([features["words"], -features["words"]], axis=2)  # batch, time, 2 units
        lw.layers.dropout(pairs, 0.5, training=False, name="pairs")
        return tiny.linear({"x": features["x"]}, labels, mode, params)

    made = tiny.estimator(tmp_path, model_fn, params={})
    made.train(lambda: input_fn().repeat(), steps=1)
    seen = made.evaluate(input_fn, taps="layers/pairs").taps["layers/pairs"]
    padded = [np.pad(word, (0, size - len(word))) for word, size in zip(words, (3, 3, 5, 5, 4, 4), strict=True)]
    flat = np.concatenate(padded)
    assert seen.count == flat.size == 24
    np.testing.assert_allclose(seen.mean, [flat.mean(), -flat.mean()], rtol=1e-6)
    np.testing.assert_allclose(seen.std, [flat.std()] * 2, rtol=1e-6)
    assert seen.zeros == pytest.approx([np.mean(flat == 0)] * 2)


@pytest.mark.parametrize(
    ("taps", "text"),
    [
        (lambda: [lw.stats("layers/*")], "reduces over the data set by itself; give it plain paths, or use a Watch"),
        (lambda: "metrics/accuracy", "'metrics/accuracy' is in the result of evaluate as it is"),
        (lambda: ["timing/step"], "'timing/step' is measured, not computed; read it with a Watch"),
        (
            lambda: ["features/city"],
            "a statistic per unit needs numbers, and 'features/city' holds string",
        ),
        (lambda: ["layers/hiden"], "'layers/hiden' names nothing in this model. Did you mean 'layers/hidden'"),
    ],
)
def test_what_cannot_be_tapped_says_why(taps: Any, text: str, trained: lw.Estimator) -> None:
    with pytest.raises(lw.errors.UsageError, match=rf"^evaluate\(taps=...\).*{text}"):
        trained.evaluate(models.once, taps=taps())
