"""The trainer that all stories share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.stories.processes import Trainer


@pytest.fixture(scope="session")
def trainer(tmp_path_factory: Any) -> Iterator[Trainer]:
    started = Trainer(tmp_path_factory.mktemp("trainer"))
    yield started
    started.close()
