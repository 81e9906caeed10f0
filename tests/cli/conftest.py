"""Commands open doors for the process that they are; here they run in one that goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from lightwell.compat.install import uninstall


@pytest.fixture(autouse=True)
def doors_are_shut_again() -> Iterator[None]:
    finders = list(sys.meta_path)
    yield
    uninstall()
    sys.meta_path[:] = finders
