"""Metrics of Keras 3 alone: made outside of model_fn, or with several values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import estimator, keras

import lightwell as lw

VALUES = np.arange(6, dtype=np.float32)


def rows() -> Any:
    return tf.data.Dataset.from_tensor_slices(VALUES).batch(2)


def test_a_metric_from_outside_is_left_as_it_was(tmp_path: Path) -> None:
    metric = keras.metrics.Mean()

    def model_fn(features: Any, mode: str) -> lw.EstimatorSpec:
        metric.update_state(features)
        return lw.EstimatorSpec(mode, loss=tf.reduce_sum(features), eval_metric_ops={"mean": metric})

    est = estimator(tmp_path, model_fn)
    assert est.evaluate(rows)["mean"] == est.evaluate(rows)["mean"] == 2.5
    metric.update_state([1.0, 3.0])
    assert float(metric.result()) == 2.0


def test_a_metric_of_several_values_is_refused(tmp_path: Path) -> None:
    class Both(keras.metrics.Mean):
        def result(self) -> Any:
            return {"a": super().result(), "b": super().result()}

    def model_fn(features: Any, mode: str) -> lw.EstimatorSpec:
        metric = Both()
        metric.update_state(features)
        return lw.EstimatorSpec(mode, loss=tf.reduce_sum(features), eval_metric_ops={"both": metric})

    with pytest.raises(
        lw.errors.ModelFnError, match=r"the Both metric gives several values \['a', 'b'\]; expected one"
    ):
        estimator(tmp_path, model_fn).evaluate(rows)
