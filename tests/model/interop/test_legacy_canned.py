"""Optimizers of tf_keras in a canned model: numbers and names of state as in tf.estimator 2.15."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.canned import old_optimizers
from tests.model.interop.builds import keras
from tests.parity import recordings

import lightwell as lw
import lightwell.estimator

RECORDED = recordings.load_json("old_optimizers")["variables"]


@pytest.mark.parametrize("name", old_optimizers.OPTIMIZERS)
def test_a_canned_model_trains_as_recorded(name: str, tmp_path: Path) -> None:
    ours, recorded = old_optimizers.trained(lightwell.estimator, keras.optimizers, name, tmp_path), RECORDED[name]
    assert list(ours) == list(recorded)
    for key, value in recorded.items():
        np.testing.assert_allclose(ours[key], value, rtol=1e-5, atol=1e-7, err_msg=key)


class Scaled(keras.optimizers.legacy.SGD):  # type: ignore[misc]
    """Has steps of its own, and an argument that its config does not tell."""

    def __init__(self, by: Any, **settings: Any) -> None:
        super().__init__(**settings)
        self.by = by

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        moved = [param.assign_sub(self.by() * tf.ones_like(param)) for param in params]
        return [*moved, self.iterations.assign_add(1)]


def test_a_subclass_with_steps_of_its_own_trains_and_tells_the_name_of_its_counter(tmp_path: Path) -> None:
    optimizer = Scaled(by=lambda: 0.25, learning_rate=0.5)
    column = tf.feature_column.numeric_column("x")
    est = lw.estimator.LinearRegressor([column], str(tmp_path), optimizer=optimizer)

    def data() -> Any:
        return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]])).repeat()

    for steps in (2, 1):
        est.train(data, steps=steps)
    assert est.get_variable_value(optimizer.iterations.name) == 3
    assert est.get_variable_value("linear/linear_model/x/weights") == [[-0.75]]
    assert optimizer.get_config()["learning_rate"] == 0.5
