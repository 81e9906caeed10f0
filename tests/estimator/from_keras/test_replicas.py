"""A Keras model that was made an Estimator, trained by several replicas."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
from tests.parity import replica_runs as runs

import lightwell as lw
from lightwell.errors import UsageError


def test_replicas_train_the_weights_of_one_device_and_evaluations_need_none(tmp_path: Path) -> None:
    keras.utils.set_random_seed(1)
    inputs = keras.Input((3,), name="x")
    outputs = keras.layers.Dense(1)(keras.layers.Dense(4, activation="relu")(inputs))
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    configs = [runs.config_of(lw, count, str(tmp_path / str(count))) for count in (1, 2)]
    alone, both = (
        lw.model_to_estimator(model, config=config).train(lambda size=size: runs.batches(size), steps=3)
        for config, size in zip(configs, (8, 4), strict=True)
    )
    assert both.get_variable_names() == alone.get_variable_names()
    for name in alone.get_variable_names():
        ours, expected = both.get_variable_value(name), alone.get_variable_value(name)
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5, err_msg=name)
    with pytest.raises(UsageError, match=r"count the batches of one replica.* Leave eval_distribute out"):
        both.evaluate(lambda: runs.batches().take(3))
    once = lw.model_to_estimator(model, config=configs[1].replace(eval_distribute=None))
    assert once.evaluate(lambda: runs.batches().take(3)) == pytest.approx(
        alone.evaluate(lambda: runs.batches().take(3)), rel=1e-4
    )
