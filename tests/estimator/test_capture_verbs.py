"""The arguments of the verbs that keep and compare: what makes no sense is refused before anything is built or made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests import tiny

from lightwell.errors import UsageError, WrongType


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"shard_bytes": "many"}, "shard_bytes must be a number of bytes, as in 500_000 or \"2GB\"; got 'many'"),
        ({"budget": 0}, "budget must be a number of bytes"),
        ({"shard_bytes": "2GB"}, "is more than 1 GB"),
        ({"beyond": "nothing"}, 'beyond must be "sample" or "statistics"'),
        ({"steps": 0}, "Must specify steps > 0"),
    ],
)
def test_capture(tmp_path: Path, changes: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        tiny.estimator(tmp_path / "m").capture(tiny.once, "features/x", tmp_path / "a", **changes)
    assert not (tmp_path / "a").exists()


def test_input_fn_is_a_function(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path)
    for verb in (
        lambda: est.capture([1], "features/x", tmp_path / "a"),  # type: ignore[arg-type]
        lambda: est.over_checkpoints([1]),  # type: ignore[arg-type]
        lambda: est.compare(1, 2, [1]),  # type: ignore[arg-type]
    ):
        with pytest.raises(WrongType, match="input_fn must be a function"):
            verb()
