"""Canned models under MirroredStrategy over two CPUs, to compare with the original. The same code for both sides.

Both replicas meet the same categories in a batch: the original stops where they do not, as the gradients of embeddings
then have other sizes. Nor can it train recurrent models so, whose second replica does not find its variables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.estimator.canned import measure
from tests.estimator.canned.cases import CASES as ON_ONE_DEVICE
from tests.estimator.canned.cases import DEEP, Case, age, city, size, tags
from tests.parity import replica_runs

REPLICAS = 2
STEPS = 4
WIDE = [age, size, city, tags]


def _both(name: str, make: Any, labels: str = "two") -> dict[str, Case]:
    return {f"{face} {name}": Case(face, make, labels) for face in ("v1", "v2")}


CASES: dict[str, Case] = {
    **_both("LinearRegressor", lambda api, **more: api.LinearRegressor(WIDE, weight_column="weight", **more), "number"),
    **_both(
        "Combined",
        lambda api, **more: api.DNNLinearCombinedClassifier(
            linear_feature_columns=WIDE, dnn_feature_columns=DEEP, dnn_hidden_units=[4], **more
        ),
    ),
    **{name: ON_ONE_DEVICE[name] for name in ("v1 DNNClassifier batch_norm", "v2 DNNClassifier batch_norm")},
}


def made(api: Any, case: Case, model_dir: Path) -> Any:
    """The model of a case; every step is shown."""
    strategy = replica_runs.strategy_of(REPLICAS)
    config = api.RunConfig(
        model_dir=str(model_dir),
        save_summary_steps=1,
        tf_random_seed=3,
        keep_checkpoint_max=1,
        train_distribute=strategy,
        eval_distribute=strategy,
        session_config=tf.compat.v1.ConfigProto(device_count={"CPU": 4}),
    )
    return case.make(api, config=config)


def first_steps(api: Any, case: Case, model_dir: Path) -> dict[str, Any]:
    """Two steps from a random start; gives all variables."""
    est = made(api, case, model_dir)
    est.train(case.data(case), steps=measure.START)
    return {name: est.get_variable_value(name) for name in est.get_variable_names()}


def next_steps(api: Any, case: Case, model_dir: Path) -> dict[str, Any]:
    """A few steps more, and an evaluation."""
    est = made(api, case, model_dir)
    est.train(case.data(case), steps=STEPS)
    losses, tags = measure.shown(model_dir)
    # The original cannot evaluate the classifiers of its v1 face so: a metric comes out once for each replica.
    is_evaluated = case.face == "v2" or "Classifier" not in type(est).__name__
    metrics = est.evaluate(case.data(case), steps=2) if is_evaluated else {}
    return {
        "losses": losses,
        "tags": tags,
        "metrics": {name: float(value) for name, value in metrics.items()},
        "variables": est.get_variable_names(),
    }
