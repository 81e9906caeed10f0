"""Trained models that many tests here change values in; made once for a file."""

from __future__ import annotations

from typing import Any

import pytest
from tests.inside.edits import models

import lightwell as lw


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    """A perceptron after four steps; tests may run it, not train it on."""
    return models.estimator(models.mlp(), tmp_path_factory.mktemp("mlp")).train(models.data, steps=4)
