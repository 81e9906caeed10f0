"""A worker stops once the chief has saved a checkpoint of the last step."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import tiny
from tests.contracts.test_hooks_in_other_sessions import Worker, hooks, steps_run

import lightwell as lw


@pytest.mark.parametrize(("saved", "steps", "waits"), [(None, 6, 3), (3, 6, 3), (4, 4, 0), (7, 4, 0)])
def test_a_worker_waits_for_the_chiefs_checkpoint_of_the_last_step(
    tmp_path: Path, saved: int | None, steps: int, waits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if saved is not None:
        tiny.trained(tmp_path, steps=saved)
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    est = lw.Estimator(tiny.linear, config=Worker(str(tmp_path)), params={})
    hook = hooks.make_stop_at_checkpoint_step_hook(est, 4, wait_after_file_check_secs=5)
    assert steps_run(hook, most=6) == steps
    assert waited == [5] * waits


def test_in_a_training_of_an_estimator_it_stops_at_the_step(tmp_path: Path) -> None:
    tiny.trained(tmp_path / "chief", steps=4)
    chiefs = lw.Estimator(tiny.linear, config=Worker(str(tmp_path / "chief")), params={})
    hook = hooks.make_stop_at_checkpoint_step_hook(chiefs, 3, wait_after_file_check_secs=0)
    est = tiny.estimator(tmp_path / "own")
    est.train(tiny.data, steps=9, hooks=[hook])
    assert est.get_variable_value("global_step") == 3
