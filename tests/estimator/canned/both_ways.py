"""Canned models whose model_dir goes both ways between the original and us. The same code for both sides.

A model takes a few steps on one side, and goes on from there on both.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.estimator.canned import cases, clusters, dual, measure, sequences
from tests.estimator.canned.cases import Case

OURS, THEIRS = "ours", "theirs"
_STEPS = 3


@dataclass(frozen=True)
class Traveller:
    """A model, how many steps it goes on for, and how near its numbers are afterwards."""

    case: Case
    steps: int = _STEPS
    is_drawn: bool = False  # takes its examples in an order of chance: only what that leads to is the same


MODELS: dict[str, Traveller] = {
    **{name: Traveller(case) for name, case in cases.CASES.items() if len(name.split()) == 2},
    "v2 DNNClassifier Adam": Traveller(cases.CASES["v2 DNNClassifier Adam"]),
    "v2 DNNClassifier RMSProp": Traveller(cases.CASES["v2 DNNClassifier RMSProp"]),
    "v2 DNNClassifier batch_norm": Traveller(cases.CASES["v2 DNNClassifier batch_norm"]),
    **{name: Traveller(case) for name, case in sequences.CASES.items()},
    "v2 RNNEstimator of two heads": Traveller(sequences.TWO_HEADS),
    **{name: Traveller(case) for name, case in clusters.CASES.items()},
    **{f"{name} SDCA": Traveller(case, dual.STEPS, is_drawn=True) for name, case in dual.CASES.items()},
}


def folder_of(scratch: Path, name: str, origin: str, goes_on: str) -> Path:
    """The model_dir of a model that started with `origin`, and goes on with `goes_on`."""
    return scratch / f"{list(MODELS).index(name)}-{origin}-{goes_on}"


def start(api: Any, name: str, origin: str, scratch: Path) -> None:
    """The first steps, in a model_dir for each side."""
    here, there = (folder_of(scratch, name, origin, side) for side in (OURS, THEIRS))
    measure.first_steps(api, MODELS[name].case, here)
    shutil.copytree(here, there)


def go_on(api: Any, name: str, model_dir: Path) -> dict[str, Any]:
    """What comes of a model_dir: the losses of more steps, metrics, and all variables after them."""
    case = MODELS[name].case
    est = measure.made(api, case, model_dir)
    est.train(case.data(case), steps=MODELS[name].steps)
    metrics = est.evaluate(case.data(case), steps=2)
    return {
        "losses": measure.losses_of(model_dir),
        "metrics": {key: float(value) for key, value in metrics.items()},
        "variables": {key: est.get_variable_value(key) for key in est.get_variable_names()},
    }
