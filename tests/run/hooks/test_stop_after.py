"""An evaluation of so many batches stops there, and says how far it is at each tenth, fused or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests import tiny
from tests.conftest import LogLines


@pytest.mark.parametrize("fuse_steps", ["auto", False])
@pytest.mark.parametrize(("steps", "told"), [(3, [1, 2, 3]), (25, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 25])])
def test_it_stops_and_tells(tmp_path: Path, log: LogLines, fuse_steps: Any, steps: int, told: list[int]) -> None:
    made = tiny.trained(tmp_path, fuse_steps=fuse_steps)
    assert made.evaluate(tiny.data, steps=steps)["global_step"] == 2
    assert log.having("Evaluation [") == [f"INFO Evaluation [{batch}/{steps}]" for batch in told]
