"""Programs and a trained model that many tests here look at; built once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from tests.inside.paths import models

import lightwell as lw
from lightwell.run.engine.program import Program


@pytest.fixture(scope="session")
def everything() -> Callable[[str], Program]:
    """The model with a bit of everything, by mode. Its graphs may grow, but must not be made final."""
    return cache(lambda mode: models.program(models.everything, mode))


@pytest.fixture(scope="session")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    """The model with a bit of everything after four steps; tests may read it, not train it on."""
    made = models.estimator(models.everything, tmp_path_factory.mktemp("everything"), save_checkpoints_steps=2)
    return made.train(models.data, steps=4)
