"""Which metric decides, of which evaluation, and in which direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.estimator.workflow import scripted

import lightwell as lw
from lightwell.errors import UsageError, WrongType
from lightwell.estimator.workflow.observers import Evaluation


@pytest.mark.parametrize(
    "name", "loss average_loss mean_squared_error rmse eval/cross_entropy perplexity error".split()
)
def test_low_is_good_by_name(name: str) -> None:
    assert lw.KeepBest(name).mode == "min"


@pytest.mark.parametrize(
    "name", "accuracy auc auc_precision_recall precision recall_at_5 top_5_accuracy f1 mIoU".split()
)
def test_high_is_good_by_name(name: str) -> None:
    assert lw.EarlyStopping(name, 1).mode == "max"


@pytest.mark.parametrize("name", ["clicks", "accuracy_loss", "false_positives"])
def test_a_name_that_does_not_tell_asks_for_the_mode(name: str) -> None:
    text = rf"KeepBest: the name of metric '{name}' does not tell .* Say mode='max' or mode='min'\."
    with pytest.raises(UsageError, match=text):
        lw.KeepBest(name)
    assert lw.KeepBest(name, mode="min").mode == "min"


def test_other_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="KeepBest: mode must be 'min', 'max' or 'auto', got 'best'"):
        lw.KeepBest("loss", mode="best")
    with pytest.raises(WrongType, match="EarlyStopping: metric must be the name of a metric, got NoneType None"):
        lw.EarlyStopping(None, 3)  # type: ignore[arg-type]


def evaluation(name: str, **metrics: Any) -> Evaluation:
    return Evaluation(name, {**metrics, "global_step": 10}, 10, "nowhere/model.ckpt-10")


def test_only_the_evaluation_that_was_named_counts(tmp_path: Path) -> None:
    stopping = lw.EarlyStopping("accuracy", 1, restore_best=False, eval_name="valid")
    stopping.begin(scripted.estimator(tmp_path, [0.0]))
    stopping.after_evaluation(evaluation("train", accuracy=0.9))
    assert stopping.best is None
    stopping.after_evaluation(evaluation("valid", accuracy=0.5))
    assert stopping.best is not None
    assert stopping.best.value == 0.5
    assert (tmp_path / "early_stopping" / "valid-accuracy" / "state.json").exists()


def test_several_evaluations_ask_for_a_name(tmp_path: Path) -> None:
    stopping = lw.EarlyStopping("accuracy", 1, restore_best=False)
    stopping.begin(scripted.estimator(tmp_path, [0.0]))
    stopping.after_evaluation(evaluation("train", accuracy=0.9))
    with pytest.raises(UsageError, match=r"several evaluations, 'train' and 'valid'\. Say .*eval_name='valid'"):
        stopping.after_evaluation(evaluation("valid", accuracy=0.5))


@pytest.mark.parametrize("value", [np.eye(2), b"text", "text"])
def test_what_is_no_number_is_refused(tmp_path: Path, value: Any) -> None:
    stopping = lw.EarlyStopping("accuracy", 1, restore_best=False)
    stopping.begin(scripted.estimator(tmp_path, [0.0]))
    with pytest.raises(UsageError, match=r"metric 'accuracy' is no number, but has the shape .* Name one"):
        stopping.after_evaluation(evaluation("", accuracy=value))
