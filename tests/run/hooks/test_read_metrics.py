"""The metrics of an evaluation are read once all batches are in and all other hooks have ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines


def test_after_all_others_sorted_by_name_with_the_step_last(tmp_path: Path, log: LogLines) -> None:
    told: list[list[str]] = []

    class Ends(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
        def end(self, session: Any) -> None:
            told.append(log.having("Saving dict"))

    made = tiny.trained(tmp_path)
    result = made.evaluate(tiny.once, hooks=[Ends()])
    assert list(result) == ["loss", "mae", "global_step"]
    assert told == [[]]
    assert len(log.having("Saving dict")) == 1
    assert result == made.evaluate(tiny.once)
