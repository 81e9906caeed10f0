"""`BestExporter` knows the best result across restarts, whatever happened in between."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines
from tests.parity.exporter_scenes import Pretends, names, receiver

import lightwell as lw
from lightwell.errors import ModelDirError

v1 = tf.compat.v1


class Run:
    """One process: new objects over the same folder."""

    def __init__(self, model_dir: Path, **given: Any) -> None:
        self.estimator = Pretends(model_dir)
        self.exporter = lw.BestExporter(serving_input_receiver_fn=receiver, **given)
        self.there = model_dir / "export" / "best_exporter"
        first = 1700000000 + 10 * len(names(self.there))
        self.estimator._versions = iter(range(first, first + 1000))

    def __call__(self, loss: float, **others: Any) -> bool:
        """Whether a result is exported."""
        result = {"loss": np.float32(loss), **others}
        return self.exporter.export(self.estimator, str(self.there), "model.ckpt-1", result, False) is not None


def state_of(model_dir: Path) -> Any:
    return json.loads((model_dir / "export" / "best_exporter.best.json").read_text())


def write_events(folder: Path, results: Mapping[int, Mapping[str, float]]) -> None:
    with tf.Graph().as_default(), v1.summary.FileWriter(str(folder)) as writer:
        for step, numbers in results.items():
            values = [v1.Summary.Value(tag=tag, simple_value=number) for tag, number in numbers.items()]
            writer.add_summary(v1.Summary(value=values), step)


def test_a_restart_exports_no_worse_model(tmp_path: Path) -> None:
    assert [Run(tmp_path)(loss) for loss in (1.0, 2.0, 0.5, 0.7, 0.5, 0.25)] == [True, False, True, False, False, True]
    assert len(names(tmp_path / "export" / "best_exporter")) == 3


def test_the_folder_of_the_exports_holds_exports_alone(tmp_path: Path) -> None:
    Run(tmp_path)(1.0)
    assert names(tmp_path / "export" / "best_exporter") == ["1700000000"]
    assert names(tmp_path / "export") == ["best_exporter", "best_exporter.best.json"]


def test_numbers_come_back_as_they_were(tmp_path: Path) -> None:
    seen: list[Any] = []

    def compare(best_eval_result: Any, current_eval_result: Any) -> bool:
        seen.append((dict(best_eval_result), current_eval_result))
        return True

    results: dict[str, Any] = {
        "auc": 0.1,
        "step": np.int64(3),
        "curve": np.arange(3.0, dtype=np.float32),
        "picture": b"x",
    }
    for _ in range(2):
        Run(tmp_path, compare_fn=compare)(0.1, **results)
    ((best, current),) = seen
    assert sorted(best) == ["auc", "curve", "loss", "step"], "what is no number is left out"
    for name in best:
        assert np.array_equal(best[name], current[name])
        assert np.asarray(best[name]).dtype == np.asarray(current[name]).dtype


def test_a_first_nan_does_not_stay_the_best(tmp_path: Path) -> None:
    assert [Run(tmp_path)(loss) for loss in (float("nan"), float("nan"), 3.0, float("nan"))] == [
        True,
        False,
        True,
        False,
    ]


def test_exports_that_were_deleted_count_no_more(tmp_path: Path) -> None:
    Run(tmp_path)(0.5)
    shutil.rmtree(tmp_path / "export" / "best_exporter")
    assert Run(tmp_path)(0.9), "a server would have nothing to load"
    assert not Run(tmp_path)(0.95)


def test_killed_while_exporting(tmp_path: Path) -> None:
    Run(tmp_path)(1.0)
    run = Run(tmp_path)

    def dies(*given: Any, **named: Any) -> bytes:
        raise KeyboardInterrupt

    run.estimator.export_saved_model = dies  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run(0.5)
    assert Run(tmp_path)(0.9), "the best is still 1.0"


def test_killed_between_the_export_and_the_note_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Run(tmp_path)(1.0)
    run = Run(tmp_path)
    rename = os.replace

    def dies(*given: Any) -> None:
        if len(names(run.there)) > 1:
            raise KeyboardInterrupt
        rename(*given)

    monkeypatch.setattr(os, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        run(0.5)
    monkeypatch.undo()
    assert len(names(run.there)) == 2
    assert not Run(tmp_path)(0.7), "the export was made, so its result is the best"
    assert Run(tmp_path)(0.4)


@pytest.mark.parametrize("damage", ["{", "[]", '{"format": 99}', '{"format": 1, "best": {"loss": 1}}'])
def test_a_damaged_note_is_told_and_the_events_are_asked(tmp_path: Path, log: LogLines, damage: str) -> None:
    Run(tmp_path)(0.5)
    write_events(tmp_path / "eval", {1: {"loss": 0.5}})
    (tmp_path / "export" / "best_exporter.best.json").write_text(damage)
    assert not Run(tmp_path)(0.7, global_step=2)
    assert log.having("best_exporter.best.json, cannot be read")
    assert log.having("Going by the event files.")


class TestWhatTheOriginalLeft:
    """Exports without a note: event files tell the best."""

    def left(self, tmp_path: Path, folder: str = "eval") -> Path:
        model_dir = tmp_path / "a[1]*"
        old = model_dir / "export" / "best_exporter" / "1600000000"
        old.mkdir(parents=True)
        (old / "saved_model.pb").touch()
        write_events(model_dir / folder, {1: {"loss": 0.7}, 2: {"loss": 0.5}, 3: {"loss": 0.6}})
        return model_dir

    def test_no_worse_model_is_exported(self, tmp_path: Path, log: LogLines) -> None:
        model_dir = self.left(tmp_path)
        assert [Run(model_dir)(loss, global_step=9) for loss in (0.55, 0.4)] == [False, True]
        assert log.having("INFO Loading best metric from event files.")

    def test_the_current_result_is_no_rival_to_itself(self, tmp_path: Path) -> None:
        model_dir = self.left(tmp_path)
        write_events(model_dir / "eval", {9: {"loss": 0.4}})
        assert Run(model_dir)(0.4, global_step=9)

    def test_without_a_step_the_current_result_is_known_by_its_numbers(self, tmp_path: Path) -> None:
        model_dir = self.left(tmp_path)
        write_events(model_dir / "eval", {9: {"loss": 0.1}})
        assert Run(model_dir)(0.1)

    def test_the_pattern_says_where(self, tmp_path: Path) -> None:
        model_dir = self.left(tmp_path, "eval_other")
        assert not Run(model_dir, event_file_pattern="eval_other/*.tfevents.*")(0.55, global_step=9)
        assert Run(model_dir)(0.55, global_step=9)

    def test_without_a_pattern_they_count_for_nothing(self, tmp_path: Path) -> None:
        assert Run(self.left(tmp_path), event_file_pattern=None)(0.55, global_step=9)

    def test_results_without_the_metric_are_left_out(self, tmp_path: Path) -> None:
        def higher(best_eval_result: Any, current_eval_result: Any) -> bool:
            return bool(current_eval_result["auc"] > best_eval_result["auc"])

        model_dir = self.left(tmp_path)
        assert Run(model_dir, compare_fn=higher)(0.1, auc=0.5, global_step=9)

    def test_before_the_first_export_they_do_not_matter(self, tmp_path: Path) -> None:
        write_events(tmp_path / "eval", {1: {"loss": 0.1}})
        assert Run(tmp_path)(0.9, global_step=9)


def test_a_comparison_that_fails_says_with_what(tmp_path: Path, log: LogLines) -> None:
    def higher(best_eval_result: Any, current_eval_result: Any) -> bool:
        return bool(current_eval_result["auc"] > best_eval_result["auc"])

    Run(tmp_path)(0.5)
    with pytest.raises(KeyError, match="auc"):
        Run(tmp_path, compare_fn=higher)(0.5, auc=0.7)
    (line,) = log.having("compare_fn failed")
    assert "best_exporter.best.json" in line
    assert "delete that file to begin anew" in line


def test_a_note_that_cannot_be_written_stops_the_export(tmp_path: Path) -> None:
    (tmp_path / "export" / "best_exporter.best.json").mkdir(parents=True)
    run = Run(tmp_path)
    with pytest.raises(
        ModelDirError, match=r"the best value so far cannot be written to .*best_exporter\.best\.json: "
    ):
        run(0.5)
    assert names(run.there) == []


def test_a_result_without_a_loss_says_what_it_has(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run(0.5)
    with pytest.raises(
        ValueError, match=r"current_eval_result cannot be empty or no loss is found in it; it has \['auc'\]"
    ):
        run.exporter.export(run.estimator, str(run.there), "c", {"auc": 1.0}, False)


def test_a_method_and_a_partial_can_compare(tmp_path: Path) -> None:
    import functools

    class Judge:
        def better(self, best_eval_result: Any, current_eval_result: Any) -> bool:
            return False

    def by(metric: str, best_eval_result: Any, current_eval_result: Any) -> bool:
        return bool(current_eval_result[metric] < best_eval_result[metric])

    for compare in (Judge().better, functools.partial(by, "loss")):
        lw.BestExporter(serving_input_receiver_fn=receiver, compare_fn=compare)


def test_an_estimator_that_writes_in_a_form_of_its_own_is_compared_too(tmp_path: Path) -> None:
    class Elsewhere:
        """A stand-in that leaves no SavedModel."""

        model_dir = str(tmp_path)

        def export_saved_model(self, *given: Any, **named: Any) -> str:
            return "somewhere"

    exporter = lw.BestExporter(serving_input_receiver_fn=receiver)
    there = str(tmp_path / "export" / "best_exporter")
    results = [exporter.export(Elsewhere(), there, "model.ckpt-1", {"loss": loss}, False) for loss in (0.5, 0.6, 0.4)]
    assert results == ["somewhere", None, "somewhere"]
