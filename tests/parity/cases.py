"""Tables of names as test cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def cases(names: Iterable[str], still_open: Mapping[str, str]) -> list[Any]:
    """Names as test cases; a difference that is still to be closed fails when it no longer is one."""
    return [
        pytest.param(name, marks=pytest.mark.xfail(reason=still_open[name])) if name in still_open else name
        for name in names
    ]
