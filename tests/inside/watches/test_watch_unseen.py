"""A watch whose cadence met no step of a run says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw


@pytest.mark.parametrize(
    ("cadence", "told"),
    [
        ({"every": 100}, "every=100"),
        ({}, "every=100"),
        ({"at": [1, 50]}, "at=[1, 50]"),
        ({"every_secs": 60}, "every_secs=60"),
    ],
    ids=str,
)
def test_a_watch_that_never_looked_says_so_once(
    tmp_path: Path, log: LogLines, cadence: dict[str, Any], told: str
) -> None:
    made = tiny.trained(tmp_path, steps=2)
    watch = lw.Watch("loss", do=lambda step: None, **cadence)
    made.train(tiny.data, steps=8, hooks=[watch])
    assert log.having("never looked") == [
        f"WARNING Watch('loss') never looked: it looks with {told}, and this run had 8 steps, up to step 10. Choose a "
        "cadence that meets one of them."
    ]
    made.train(tiny.data, steps=8, hooks=[watch])
    assert len(log.having("never looked")) == 1
    in_evaluation = {"at": [9]} if "at" in cadence else cadence
    made.evaluate(tiny.once, hooks=[lw.Watch("loss", do=lambda step: None, **in_evaluation)])
    assert log.having("this run had 2 batches.")


def test_a_watch_that_looked_or_had_nothing_to_look_at_says_nothing(tmp_path: Path, log: LogLines) -> None:
    watch = lw.Watch("loss", every=4, do=lambda step: None)
    made = tiny.estimator(tmp_path).train(tiny.data, steps=4, hooks=[watch])
    made.train(tiny.data, steps=2, hooks=[watch])
    made.evaluate(lambda: tiny.once().take(0), hooks=[lw.Watch("loss", every=4)])
    assert not log.having("never looked")
