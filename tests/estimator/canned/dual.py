"""Linear models trained by dual coordinate ascent, to compare with the original. The same code for both sides.

Examples are taken in an order of chance, so that the numbers of steps differ from run to run. What they lead to is
determined: both losses are smooth, so the dual problem has one best point, and the weights before shrinking are a sum
over it. After 60 steps the regressor's weights are still up to 1e-2 apart, here as with the original; after 300 steps
they agree to 5e-6, with 1, 2 or 8 threads.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.estimator.canned.cases import FEATURES, LABELS, ROWS, WIDE, Case, age, tags

STEPS = 300
IDS = np.array([f"example {number}" for number in range(ROWS)])


def input_fn(case: Case) -> Callable[[], Any]:
    """All examples at once, without end."""
    return lambda: tf.data.Dataset.from_tensors(({**FEATURES, "id": IDS}, LABELS[case.labels])).repeat()


def _linear(face: str, model: str, labels: str, columns: Any, settings: dict[str, Any], **more: Any) -> Case:
    def make(api: Any, **given: Any) -> Any:
        sdca = api.experimental.LinearSDCA("id", **settings)
        return getattr(api, model)(columns, optimizer=sdca, **more, **given)

    return Case(face, make, labels, data=input_fn)


CASES: dict[str, Case] = {
    "v2 LinearRegressor": _linear(
        "v2",
        "LinearRegressor",
        "number",
        WIDE,
        {"symmetric_l1_regularization": 0.1, "symmetric_l2_regularization": 0.5, "num_table_shards": 2},
        weight_column="weight",
    ),
    "v1 LinearClassifier": _linear("v1", "LinearClassifier", "two", [age, tags], {"adaptive": True}),
}


def trained(api: Any, case: Case, model_dir: Path, steps: int) -> dict[str, Any]:
    """All variables after so many steps more. Tables are mostly empty, and have their rows where hashes say."""
    est = case.make(api, config=api.RunConfig(model_dir=str(model_dir), tf_random_seed=3, keep_checkpoint_max=1))
    est.train(case.data(case), steps=steps)
    return {name: est.get_variable_value(name) for name in est.get_variable_names()}
