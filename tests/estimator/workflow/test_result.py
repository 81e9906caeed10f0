"""What `train_and_evaluate` returns."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from tests import tiny
from tests.estimator.workflow.runs import Noting, estimator, evaluation, slice_of_data, train

import lightwell as lw


@pytest.fixture(scope="module")
def result(tmp_path_factory: Any) -> Any:
    specs = [
        evaluation("all", exporters=[Noting("x"), Noting("y")]),
        lw.EvalSpec(slice_of_data, None, "zeros", every_checkpoints=1),
    ]
    return lw.train_and_evaluate(estimator(tmp_path_factory.mktemp("model")), train(6), specs)


def test_it_is_the_pair(result: Any) -> None:
    metrics, exports = result
    assert metrics is result[0] is result.eval_result is result.metrics["all"]
    assert exports is result[1] is result.export_results
    assert isinstance(result, tuple)
    assert len(result) == 2
    assert result == (metrics, exports)


def test_it_knows_all_evaluations(result: Any) -> None:
    assert [(one.name, one.global_step) for one in result.evaluations] == [
        (name, step) for step in (2, 4, 6) for name in ("all", "zeros")
    ]
    assert result.global_step == 6
    assert result.stopped == "max_steps=6 was reached."
    assert list(result.exports) == ["x", "y"]


def test_the_best_step_by_loss_or_by_a_metric(result: Any) -> None:
    # The model learns y = 2x: the loss on zeros rises with every step, that on the data falls.
    assert result.best_step == 6
    assert result.best(name="zeros").global_step == 2
    assert result.best("mae", mode="min").global_step == 6
    assert result.best("mae", mode="max").global_step == 2
    assert result.best("mae", name="zeros", mode="min").metrics["mae"] == min(
        one.metrics["mae"] for one in result.evaluations if one.name == "zeros"
    )


def test_nothing_at_all(tmp_path: Path) -> None:
    made = estimator(tmp_path)
    made.train(tiny.data, max_steps=4)
    nothing = lw.train_and_evaluate(made, train(4), evaluation())
    assert nothing == (None, None)
    eval_result, export_results = nothing
    assert (eval_result, export_results) == (None, None)
    assert (nothing.evaluations, nothing.metrics, nothing.exports) == ((), {}, {})
    assert (nothing.best_step, nothing.global_step) == (None, None)


def test_it_tells_itself_and_travels(result: Any) -> None:
    assert repr(result).startswith("TrainAndEvaluateResult(eval_result={'loss': ")
    assert repr(result).endswith("evaluations=6, stopped='max_steps=6 was reached.')")
    copied = pickle.loads(pickle.dumps(result))
    assert copied == result
    assert copied.best_step == 6
