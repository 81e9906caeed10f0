"""Where memory runs out, the largest layers and weights are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
TOO_MANY = 2**42


def test_it_names_layers_and_weights_and_what_to_do(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        wide = lw.layers.dense(features["x"][:, None], 512, name="wide")
        narrow = lw.layers.dense(wide, 256, name="narrow")
        size = v1.placeholder_with_default([TOO_MANY], [1])
        huge = tf.reduce_max(tf.fill(size, tf.reduce_sum(narrow)))
        return tiny.linear({"x": features["x"] + 0 * huge}, labels, mode, {})

    with pytest.raises(tf.errors.ResourceExhaustedError) as told:
        tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=1)
    text = str(told.value)
    assert f"OOM when allocating tensor with shape[{TOO_MANY}]" in text.splitlines()[0]
    assert "The largest outputs of layers: layers/wide 0.0 MiB a row, layers/narrow" in text
    assert "The largest weights, which optimizers hold two or three times: weights/narrow/kernel 0.5 MiB" in text
    assert ('RunConfig(gpu_memory="growth")' in text) == bool(tf.config.list_physical_devices("GPU"))
