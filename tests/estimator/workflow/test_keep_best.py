"""The best checkpoints stay, whatever the training deletes, and whenever it is killed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.estimator.workflow import scripted

import lightwell as lw
from lightwell.errors import UnknownMetric, UsageError
from lightwell.estimator.workflow.observers import Evaluation

ACCURACY = [0.0, 0.5, 0.75, 0.25, 0.625, 0.125, 0.75, 0.0]  # exact in float32


def test_the_best_stay_and_can_be_used(tmp_path: Path, log: LogLines) -> None:
    est, keep = scripted.estimator(tmp_path, ACCURACY), lw.KeepBest("accuracy", k=3)
    assert scripted.rounds(est, 7, keep) == 7
    assert [(one.step, one.value) for one in keep.kept] == [(20, 0.75), (60, 0.75), (40, 0.625)], "first of equals"
    assert keep.best == keep.kept[0]
    assert keep.directory == f"{tmp_path}/best/accuracy"
    assert not (tmp_path / "model.ckpt-20.index").exists(), "the training deleted its own"
    assert tf.train.latest_checkpoint(keep.directory) == keep.best_path == f"{keep.directory}/model.ckpt-20"
    for one in keep.kept:
        found = est.evaluate(tiny.once, checkpoint_path=one.path)
        assert (found["global_step"], found["accuracy"], found["other"]) == (one.step, one.value, one.step)
    assert next(est.predict(tiny.once, checkpoint_path=keep.best_path))["w"] == 20
    assert len(list(Path(keep.directory).glob("*.index"))) == 3
    assert log.having(f"KeepBest: accuracy = 0.75 at step 20 is number 1 of 2; kept as {keep.best_path}.")


def test_the_directory_is_one_to_start_from(tmp_path: Path) -> None:
    est, keep = scripted.estimator(tmp_path / "one", ACCURACY), lw.KeepBest("accuracy", k=2)
    scripted.rounds(est, 4, keep)
    (tmp_path / "moved").mkdir()
    os.rename(keep.directory, tmp_path / "moved" / "best")
    other = scripted.estimator(tmp_path / "moved" / "best", ACCURACY)
    assert other.evaluate(tiny.once)["global_step"] == 20
    warm = lw.Estimator(
        scripted.follows(ACCURACY), str(tmp_path / "warm"), warm_start_from=str(tmp_path / "moved/best")
    )
    warm.train(tiny.data, steps=1)
    assert warm.get_variable_value("w") == 21


def test_low_values_may_be_the_good_ones(tmp_path: Path) -> None:
    est = scripted.estimator(tmp_path, ACCURACY, metric="error")
    by_name, told = lw.KeepBest("error"), lw.KeepBest("other", mode="min")
    scripted.rounds(est, 5, by_name, told)
    assert by_name.best is not None
    assert told.best is not None
    assert (by_name.best.step, by_name.best.value) == (50, 0.125)
    assert (told.best.step, told.directory) == (10, f"{tmp_path}/best/other")


def test_another_run_goes_on_with_what_was_kept(tmp_path: Path) -> None:
    est = scripted.estimator(tmp_path, ACCURACY)
    scripted.rounds(est, 3, lw.KeepBest("accuracy", k=2))
    again = lw.KeepBest("accuracy", k=2)
    scripted.rounds(scripted.estimator(tmp_path, ACCURACY), 3, again)
    assert [one.step for one in again.kept] == [20, 60]


def test_nan_is_never_the_best(tmp_path: Path, log: LogLines) -> None:
    est, keep = scripted.estimator(tmp_path, [0.0, float("nan"), 0.25, float("nan")]), lw.KeepBest("accuracy")
    scripted.rounds(est, 3, keep)
    assert keep.best is not None
    assert keep.best.step == 20
    assert log.having("KeepBest: accuracy is NaN at step 10; not kept.")


def test_a_checkpoint_that_was_deleted_before_it_could_be_kept_is_told(tmp_path: Path, log: LogLines) -> None:
    est, keep = scripted.estimator(tmp_path, ACCURACY), lw.KeepBest("accuracy")
    scripted.rounds(est, 1, keep)
    keep.after_evaluation(Evaluation("", {"accuracy": 0.9, "global_step": 5}, 5, f"{tmp_path}/model.ckpt-5"))
    assert [one.step for one in keep.kept] == [10]
    assert log.having("it is not there any more. A higher keep_checkpoint_max keeps it for longer.")


def test_evaluating_the_kept_one_again_changes_nothing(tmp_path: Path) -> None:
    est, keep = scripted.estimator(tmp_path, ACCURACY), lw.KeepBest("accuracy", k=2)
    scripted.rounds(est, 4, keep)
    before = keep.kept
    keep.offer(est, est.evaluate(tiny.once, checkpoint_path=keep.best_path), keep.best_path)
    assert keep.kept == before
    assert est.evaluate(tiny.once, checkpoint_path=keep.best_path)["global_step"] == 20


class Killed(BaseException):
    """Stands for kill -9: nothing is tidied up after it."""


def dying(monkeypatch: pytest.MonkeyPatch, at: int, links: bool) -> Callable[[], int]:
    """Lets the process die before its `at`-th change to the disk; gives a function that counts them."""
    changes = [0]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*args: Any, **kwargs: Any) -> Any:
            changes[0] += 1
            if changes[0] >= at:  # also what would tidy up
                raise Killed
            return real(*args, **kwargs)

        return act

    def refused(*paths: str) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", counted(os.link) if links else refused)
    for name in ("open", "replace", "remove"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    return lambda: changes[0]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> Any:
    est = scripted.estimator(tmp_path_factory.mktemp("model"), ACCURACY, keep_checkpoint_max=None)
    for _ in range(4):
        est.train(tiny.data, steps=scripted.EVERY)
    return est


def evaluations(est: Any) -> list[Evaluation]:
    steps = [scripted.EVERY * number for number in range(1, 5)]
    values = {step: {"accuracy": ACCURACY[step // scripted.EVERY], "global_step": step} for step in steps}
    return [Evaluation("", values[step], step, f"{est.model_dir}/model.ckpt-{step}") for step in steps]


@pytest.mark.parametrize("links", [True, False], ids=["links", "copies"])
def test_killed_at_any_point_it_has_whole_checkpoints_and_goes_on(
    trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    at = 0
    while True:
        at += 1
        place, done = tmp_path / str(at), []
        with monkeypatch.context() as patched:
            count = dying(patched, at, links)
            keep = lw.KeepBest("accuracy", k=2, directory=place)
            keep.begin(trained)
            try:
                for evaluation in evaluations(trained):
                    keep.after_evaluation(evaluation)
                    done.append(evaluation)
            except Killed:
                pass
        named = tf.train.latest_checkpoint(str(place))
        best_before = max((one.metrics["accuracy"] for one in done), default=None)
        if best_before is not None:
            step = int(tf.train.load_variable(named, "global_step"))
            assert ACCURACY[step // scripted.EVERY] >= best_before, "what was best is still there, or better"
        again = lw.KeepBest("accuracy", k=2, directory=place)
        again.begin(trained)
        assert {path.name for path in place.glob("*.index")} == {
            os.path.basename(one.path) + ".index" for one in again.kept
        }
        for evaluation in evaluations(trained)[len(done) :]:
            again.after_evaluation(evaluation)
        assert [one.step for one in again.kept] == [20, 40]
        assert all(tf.train.load_variable(one.path, "w") == one.step for one in again.kept)
        assert sorted(path.name for path in place.iterdir() if not path.name.startswith("model.ckpt-")) == [
            "checkpoint",
            "kept.json",
        ]
        if count() < at:
            break
    assert at > 15


def test_what_an_earlier_training_left_counts_and_is_told(tmp_path: Path, log: LogLines) -> None:
    scripted.rounds(scripted.estimator(tmp_path, ACCURACY), 2, lw.KeepBest("accuracy"))
    for path in [*tmp_path.glob("model.ckpt-*"), tmp_path / "checkpoint"]:
        path.unlink()
    keep, est = lw.KeepBest("accuracy"), scripted.estimator(tmp_path, [0.0, 0.125, 0.875, 0.0])
    keep.begin(est)
    assert log.having("and they count. To start over, move that directory away.")
    scripted.rounds(est, 2, keep)
    assert keep.best is not None
    assert (keep.best.step, keep.best.value) == (20, 0.875), "the same step of another training is replaced"
    assert est.evaluate(tiny.once, checkpoint_path=keep.best_path)["accuracy"] == 0.875


def test_texts(tmp_path: Path) -> None:
    est = scripted.estimator(tmp_path, ACCURACY)
    metrics = est.train(tiny.data, steps=10).evaluate(tiny.once)
    with pytest.raises(UnknownMetric) as told:
        lw.KeepBest("acuracy", mode="max").offer(est, metrics)
    assert str(told.value) == (
        "KeepBest: the metrics of evaluation '' have no metric 'acuracy'. Did you mean 'accuracy'? There are: "
        "accuracy, loss, other."
    )
    with pytest.raises(UsageError, match=r"KeepBest: k must be at least 1, got 0\. It says how many"):
        lw.KeepBest("accuracy", 0)
    with pytest.raises(TypeError, match=r"KeepBest: k must be a whole number, got float 1\.5"):
        lw.KeepBest("accuracy", 1.5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"has not met its Estimator yet.*call begin\(estimator\)"):
        lw.KeepBest("accuracy").directory  # noqa: B018
    with pytest.raises(UsageError, match=r"has checkpoints that it did not put there, such as .*model.ckpt-10\. Give"):
        lw.KeepBest("accuracy", directory=tmp_path).begin(est)
    with pytest.raises(lw.errors.CheckpointUnreadable, match=r"The checkpoint of step 7 that was evaluated is not in"):
        lw.KeepBest("accuracy").offer(est, {**metrics, "global_step": 7})
    keep = lw.KeepBest("accuracy")
    keep.offer(est, metrics)
    record = Path(keep.directory) / "kept.json"
    assert json.loads(record.read_text())["kept"] == [{"step": 10, "value": 0.5, "name": "model.ckpt-10"}]
    with pytest.raises(UsageError, match=r"keeps the best by 'accuracy' \(mode 'max'\), and this one was asked for"):
        lw.KeepBest("accuracy", mode="min").begin(est)
    record.write_text("{")
    with pytest.raises(UsageError, match=r"kept.json cannot be read .*Move that directory away to start over"):
        lw.KeepBest("accuracy").begin(est)
