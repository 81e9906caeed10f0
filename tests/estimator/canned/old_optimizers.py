"""Optimizers of Keras 2 in a canned model, to compare with the original. The same code for both sides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.estimator.canned.cases import CASES, age, size

STEPS = 3
# Each takes the module of Keras 2's optimizers.
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "momentum": lambda old: old.legacy.SGD(0.1, momentum=0.9),
    "nesterov": lambda old: old.legacy.SGD(0.1, momentum=0.9, nesterov=True),
    "named": lambda old: old.legacy.SGD(0.1, momentum=0.9, name="mine"),
    "Adagrad": lambda old: old.legacy.Adagrad(0.1, initial_accumulator_value=0.2),
    "Ftrl": lambda old: old.legacy.Ftrl(0.1, l1_regularization_strength=0.001),
    "RMSprop": lambda old: old.legacy.RMSprop(0.01),
    "centered RMSprop": lambda old: old.legacy.RMSprop(0.01, momentum=0.5, centered=True),
    "clipped": lambda old: old.legacy.SGD(0.1, momentum=0.9, clipnorm=0.01),
    "schedule": lambda old: old.legacy.SGD(old.schedules.ExponentialDecay(0.1, 2, 0.5), momentum=0.9),
}


def trained(api: Any, old: Any, name: str, model_dir: Path) -> dict[str, Any]:
    """All variables of a linear model, which starts with zeros, after a few steps."""
    config = api.RunConfig(model_dir=str(model_dir), tf_random_seed=3)
    est = api.LinearClassifier([age, size], optimizer=OPTIMIZERS[name](old), config=config)
    case = CASES["v2 LinearClassifier"]
    est.train(case.data(case), steps=STEPS)
    return {key: est.get_variable_value(key).tolist() for key in est.get_variable_names()}
