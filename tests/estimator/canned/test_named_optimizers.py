"""The learning rates that go with the names of optimizers in wide and deep models, as in 2.15.1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

ONES = np.ones((2, 1), np.float32)


def data() -> Any:
    return tf.data.Dataset.from_tensors(({"x": ONES}, ONES))


@pytest.mark.parametrize("dnn", ["SGD", "Adagrad", "RMSProp"])
def test_both_parts_have_their_own(dnn: str, tmp_path: Path) -> None:
    columns = [tf.feature_column.numeric_column("x")]
    est = lw.DNNLinearCombinedRegressor(
        model_dir=str(tmp_path),
        linear_feature_columns=columns,
        linear_optimizer="Adam",
        dnn_feature_columns=columns,
        dnn_hidden_units=[2],
        dnn_optimizer=dnn,
    )
    est.train(data, steps=1)
    rates = {
        name.split("/")[1]: pytest.approx(float(est.get_variable_value(name)))
        for name in est.get_variable_names()
        if name.endswith("/learning_rate")
    }
    assert rates == {{"RMSProp": "RMSprop"}.get(dnn, dnn): 0.001, "Adam": 0.005}
