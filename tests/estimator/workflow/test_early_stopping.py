"""A training that gets no better ends, at its best checkpoint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.estimator.workflow import scripted

import lightwell as lw
from lightwell.errors import UsageError

ACCURACY = [0.0, 0.5, 0.75, 0.25, 0.625, 0.125, 0.875, 0.0, 0.0, 0.0, 0.0]
NAN = float("nan")


def stops_after(tmp_path: Path, values: list[float], patience: int, **settings: Any) -> int:
    est = scripted.estimator(tmp_path, [0.0, *values, values[-1]])
    return scripted.rounds(est, len(values) + 1, lw.EarlyStopping("accuracy", patience, **settings))


@pytest.mark.parametrize(
    ("values", "patience", "settings", "rounds"),
    [
        ([0.5, 0.75, 0.25, 0.625, 0.125], 2, {}, 4),
        ([0.5, 0.75, 0.25, 0.625, 0.125], 3, {}, 5),
        ([0.5, 0.25, 0.75, 0.5, 0.5], 2, {}, 5),
        ([0.5, 0.5], 1, {}, 2),
        ([0.5, 0.625, 0.75], 1, {"min_delta": 0.25}, 2),
        ([0.5, 0.625, 0.75, 0.875, 1.0], 2, {"min_delta": 0.1875}, 6),
        ([0.5, 0.25, 0.125, 0.25], 1, {"mode": "min"}, 4),
        ([NAN, NAN, 0.5], 2, {}, 2),
        ([NAN, 0.5, NAN, NAN], 2, {}, 4),
    ],
)
def test_it_waits_as_long_as_it_was_told(
    tmp_path: Path, values: list[float], patience: int, settings: Any, rounds: int
) -> None:
    assert stops_after(tmp_path, values, patience, restore_best=False, **settings) == rounds


def test_the_best_becomes_the_newest_although_the_training_deleted_it(tmp_path: Path, log: LogLines) -> None:
    est, stopping = scripted.estimator(tmp_path, ACCURACY), lw.EarlyStopping("accuracy", patience=3)
    assert scripted.rounds(est, 9, stopping) == 5
    assert not (tmp_path / "model.ckpt-20.index").exists()
    before = {path: path.read_bytes() for path in tmp_path.glob("model.ckpt-*")}
    stopping.end(est)
    assert est.latest_checkpoint() == f"{tmp_path}/model.ckpt-20"
    assert est.evaluate(tiny.once)["accuracy"] == 0.75
    assert next(est.predict(tiny.once))["w"] == 20
    assert {path: path.read_bytes() for path in before} == before, "the later ones stay as they are"
    assert stopping.best is not None
    assert (stopping.best.step, stopping.best.value) == (20, 0.75)
    assert os.path.dirname(stopping.best.path) == f"{tmp_path}/early_stopping/accuracy/best"
    (line,) = log.having("Stopping at step 50")
    assert line == (
        "INFO EarlyStopping: accuracy has not improved for 3 evaluations, patience is 3: the best was 0.75 at step 20, "
        "the last is 0.125 at step 50. Stopping at step 50."
    )
    assert log.having(
        f"the newest checkpoint of {tmp_path} is now that of step 20, with the best accuracy = 0.75. Those"
    )
    est.train(tiny.data, steps=1)
    assert est.get_variable_value("w") == 21


def test_training_on_from_the_best_has_all_its_patience(tmp_path: Path) -> None:
    est = scripted.estimator(tmp_path, ACCURACY)
    first = lw.EarlyStopping("accuracy", patience=2)
    assert scripted.rounds(est, 9, first) == 4
    first.end(est)
    second = lw.EarlyStopping("accuracy", patience=4)
    assert scripted.rounds(est, 9, second) == 8, "from step 20: the best of all is at 60, and 4 more"
    second.end(est)
    assert est.evaluate(tiny.once)["global_step"] == 60


def test_it_also_goes_back_where_it_did_not_stop(tmp_path: Path) -> None:
    est, stopping = scripted.estimator(tmp_path, ACCURACY), lw.EarlyStopping("accuracy", patience=5)
    assert scripted.rounds(est, 4, stopping) == 4
    stopping.end(est)
    assert est.evaluate(tiny.once)["global_step"] == 20


def test_without_restore_nothing_is_kept_or_moved(tmp_path: Path) -> None:
    est, stopping = scripted.estimator(tmp_path, ACCURACY), lw.EarlyStopping("accuracy", 2, restore_best=False)
    assert scripted.rounds(est, 9, stopping) == 4
    stopping.end(est)
    assert est.evaluate(tiny.once)["global_step"] == 40
    assert [path.name for path in (tmp_path / "early_stopping" / "accuracy").iterdir()] == ["state.json"]


def test_how_long_was_waited_survives_a_restart(tmp_path: Path, log: LogLines) -> None:
    est = scripted.estimator(tmp_path, ACCURACY)
    assert scripted.rounds(est, 3, lw.EarlyStopping("accuracy", patience=2)) == 3
    again = lw.EarlyStopping("accuracy", patience=2)
    again.begin(est)
    assert (again.waited, again.best and again.best.step) == (1, 20)
    assert again.offer(est, est.evaluate(tiny.once)) is None, "seen before: not waited for twice"
    assert again.waited == 1
    assert scripted.rounds(scripted.estimator(tmp_path, ACCURACY), 9, again) == 1
    again.end(est)
    assert est.evaluate(tiny.once)["accuracy"] == 0.75
    assert log.having("EarlyStopping: going on where an earlier run was. accuracy has not improved for 1 evaluation, p")


def test_killed_after_the_decision_it_decides_the_same_again(tmp_path: Path) -> None:
    est = scripted.estimator(tmp_path, ACCURACY)
    assert scripted.rounds(est, 9, lw.EarlyStopping("accuracy", patience=2)) == 4
    again = lw.EarlyStopping("accuracy", patience=2)  # without `end` in between
    assert "has not improved for 2 evaluations" in (again.offer(est, est.evaluate(tiny.once)) or "")


@pytest.mark.parametrize("begun", [True, False])
def test_what_a_training_left_whose_checkpoints_are_gone_does_not_count(
    tmp_path: Path, log: LogLines, begun: bool
) -> None:
    scripted.rounds(scripted.estimator(tmp_path, ACCURACY), 3, lw.EarlyStopping("accuracy", 3))
    for path in [*tmp_path.glob("model.ckpt-*"), tmp_path / "checkpoint"]:
        path.unlink()
    est, stopping = scripted.estimator(tmp_path, [0.0, 0.25, 0.125, 0.0]), lw.EarlyStopping("accuracy", 2)
    if begun:
        stopping.begin(est)
    assert scripted.rounds(est, 3, stopping) == 3
    stopping.end(est)
    assert est.evaluate(tiny.once)["accuracy"] == 0.25
    aside = tmp_path / "early_stopping" / "accuracy.earlier-1" / "best"
    assert tf.train.latest_checkpoint(str(aside)) == str(aside / "model.ckpt-20"), "nothing is lost"
    assert log.having("was left by another training, whose checkpoints are gone or not gone on from; it was moved to")


def test_a_training_that_goes_on_from_further_back_is_another_one(tmp_path: Path, log: LogLines) -> None:
    est = scripted.estimator(tmp_path, ACCURACY, keep_checkpoint_max=None)
    scripted.rounds(est, 3, lw.EarlyStopping("accuracy", 3))
    tf.compat.v1.train.update_checkpoint_state(str(tmp_path), f"{tmp_path}/model.ckpt-10")
    stopping = lw.EarlyStopping("accuracy", 3)
    scripted.rounds(est, 1, stopping)
    assert (stopping.waited, stopping.best and stopping.best.step) == (0, 20)
    assert log.having("accuracy.earlier-1")


def test_the_best_value_is_restored_also_below_min_delta(tmp_path: Path) -> None:
    est, stopping = (
        scripted.estimator(tmp_path, [0.0, 0.5, 0.625, 0.5625]),
        lw.EarlyStopping("accuracy", 2, min_delta=0.5),
    )
    assert scripted.rounds(est, 3, stopping) == 3
    stopping.end(est)
    assert est.evaluate(tiny.once)["accuracy"] == 0.625


def test_with_the_best_kept_beside_it(tmp_path: Path) -> None:
    est, stopping, keep = (
        scripted.estimator(tmp_path, ACCURACY),
        lw.EarlyStopping("accuracy", 2),
        lw.KeepBest("accuracy", 2),
    )
    scripted.rounds(est, 9, stopping, keep)
    stopping.end(est)
    assert stopping.best is not None
    assert keep.best_path is not None
    assert os.path.samefile(f"{stopping.best.path}.index", f"{keep.best_path}.index"), "one file, three names"
    assert os.path.samefile(f"{est.latest_checkpoint()}.index", f"{keep.best_path}.index")


def test_texts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"EarlyStopping: patience must be at least 1, got 0\. It counts evaluations"):
        lw.EarlyStopping("loss", 0)
    with pytest.raises(TypeError, match=r"EarlyStopping: patience must be a whole number, got 0\.5"):
        lw.EarlyStopping("loss", 0.5)  # type: ignore[arg-type]
    with pytest.raises(
        UsageError, match=r"min_delta must be 0 or more, got -1\. .*'loss' must get better; .*mode='min'"
    ):
        lw.EarlyStopping("loss", 3, min_delta=-1)
    est = scripted.estimator(tmp_path, ACCURACY)
    scripted.rounds(est, 1, lw.EarlyStopping("accuracy", 1))
    with pytest.raises(UsageError, match=r"state.json was written with mode='max', and this one has mode='min'"):
        lw.EarlyStopping("accuracy", 1, mode="min").begin(est)
    (tmp_path / "early_stopping" / "accuracy" / "state.json").write_text("[]")
    with pytest.raises(UsageError, match=r"state.json cannot be read .*nobody knows how long was waited"):
        lw.EarlyStopping("accuracy", 1).begin(est)
