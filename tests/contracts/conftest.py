"""A trained model that contracts are held over; nobody may change it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import runs
from tests.faces import SINGLE


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model_dir"
    runs.estimator(SINGLE, folder).train(lambda: runs.data(None), steps=3)
    return folder
