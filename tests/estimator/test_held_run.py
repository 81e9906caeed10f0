"""A model that is looked at many times is built once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests import tiny


def test_checkpoints_share_one_program(tmp_path: Path) -> None:
    calls = []

    def counting(features: Any, labels: Any, mode: str, params: Any) -> Any:
        calls.append(mode)
        return tiny.linear(features, labels, mode, params)

    def input_fn() -> Any:
        calls.append("input")
        return tiny.once()

    est = tiny.estimator(tmp_path, counting, params={}, save_checkpoints_steps=1)
    est.train(tiny.data, steps=3)
    calls.clear()
    found = est.over_checkpoints(input_fn, weights=["w"])
    assert sorted(calls) == ["eval", "input"]
    assert found.steps.tolist() == [0, 1, 2, 3]
    alone = [est.evaluate(tiny.once, checkpoint_path=one)["mae"] for one in found.checkpoints]
    assert found["mae"].tolist() == [float(one) for one in alone]
    assert found["mae"][0] > found["mae"][-1]
