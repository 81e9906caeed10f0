"""What verbs say where the input gave less than was asked for; and that they say nothing where it did not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.errors import UsageError

EMPTY = "Perhaps input is empty or misspecified: input_fn gave no batch."


def nothing() -> Any:
    return tiny.data(repeat=1).take(0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"), steps=3)


def warnings(log: LogLines) -> list[str]:
    return [line for line in log.lines if line.startswith("WARNING")]


@pytest.mark.parametrize("goal", [{}, {"steps": 5}, {"max_steps": 5}], ids=str)
def test_a_training_without_data_says_so(tmp_path: Path, log: LogLines, goal: dict[str, int]) -> None:
    tiny.estimator(tmp_path).train(nothing, **goal)
    (line,) = warnings(log)
    assert line.startswith(f"WARNING train: Training with estimator made no steps. {EMPTY} Check that")
    assert log.lines[-1] == "INFO Loss for final step: None."


@pytest.mark.parametrize("goal", [{"steps": 10_000}, {"max_steps": 10_000}], ids=str)
def test_data_that_ends_before_the_goal_is_said(tmp_path: Path, log: LogLines, goal: dict[str, int]) -> None:
    tiny.estimator(tmp_path).train(tiny.once, **goal)
    (line,) = warnings(log)
    asked = next(f"{name}={value}" for name, value in goal.items())
    assert line == (
        f"WARNING train: the data of input_fn ended at step 2, before {asked} was reached. To go over it again and "
        "again, let input_fn repeat it: dataset.repeat()."
    )


@pytest.mark.parametrize("goal", [{}, {"steps": 2}, {"max_steps": 2}, {"steps": 1}, {"steps": math.inf}], ids=str)
def test_a_training_that_comes_to_its_goal_warns_of_nothing(
    tmp_path: Path, log: LogLines, goal: dict[str, Any]
) -> None:
    tiny.estimator(tmp_path).train(tiny.once, **goal)
    assert not warnings(log)


def test_a_training_that_a_hook_stops_warns_of_nothing(tmp_path: Path, log: LogLines) -> None:
    tiny.estimator(tmp_path).train(tiny.once, steps=5, hooks=[lw.stop_when("loss", lambda loss: True)])
    assert not warnings(log)


def test_data_that_end_in_a_train_and_evaluate_are_said_once(tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=1)
    lw.train_and_evaluate(made, lw.TrainSpec(tiny.once, max_steps=9), lw.EvalSpec(tiny.once, throttle_secs=0))
    assert len(log.having("ended at step 2, before max_steps=9")) == len(warnings(log)) == 1


def test_a_goal_that_was_reached_before_is_said(trained: lw.Estimator, log: LogLines) -> None:
    trained.train(tiny.data, max_steps=2)
    assert log.lines == [
        "WARNING Skipping training since max_steps has already saved. train: the newest checkpoint in "
        f"{trained.model_dir} is of step 3, and max_steps=2; to train on, raise it, or say how many more with steps=."
    ]


@pytest.mark.parametrize("steps", [None, 3])
def test_an_evaluation_without_data_says_so(trained: lw.Estimator, log: LogLines, steps: int | None) -> None:
    result = trained.evaluate(nothing, steps=steps)
    assert (result["loss"], result["mae"], result["global_step"]) == (0.0, 0.0, 3), "as tf.estimator has it"
    (line,) = warnings(log)
    assert line.startswith(f"WARNING evaluate: {EMPTY} Metrics, if any, are those of no data. Check that")


def test_an_evaluation_of_less_than_asked_for_says_so_in_passing(trained: lw.Estimator, log: LogLines) -> None:
    trained.evaluate(tiny.once, steps=3)
    assert log.having("evaluate: the data") == ["INFO evaluate: the data of input_fn ended after 2 of 3 batches."]
    log.lines.clear()
    trained.evaluate(tiny.once, steps=2)
    assert not log.having("ended after")


def test_a_prediction_without_data_says_so(trained: lw.Estimator, log: LogLines) -> None:
    assert list(trained.predict(nothing)) == []
    (line,) = warnings(log)
    assert line.startswith(f"WARNING predict: {EMPTY} There are no predictions.")
    log.lines.clear()
    assert len(list(trained.predict(tiny.once))) == 8
    next(iter(trained.predict(tiny.once)))
    assert not warnings(log)


def test_a_capture_without_data_says_so(trained: lw.Estimator, tmp_path: Path, log: LogLines) -> None:
    assert len(trained.capture(tiny.once, "labels", tmp_path / "full")) == 8
    assert not warnings(log)
    assert len(trained.capture(nothing, "labels", tmp_path / "empty")) == 0
    (line,) = warnings(log)
    assert line.startswith(f"WARNING capture: {EMPTY} There are no rows.")


def test_what_runs_again_and_again_over_no_data_says_so_once(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=4, save_checkpoints_steps=2)
    made.over_checkpoints(nothing)
    (line,) = warnings(log)
    assert line.startswith(f"WARNING over_checkpoints: {EMPTY}")
    log.lines.clear()
    made.train(tiny.data, steps=2, hooks=[lw.estimator.experimental.InMemoryEvaluatorHook(made, nothing)])
    (line,) = warnings(log)
    assert line.startswith(f"WARNING InMemoryEvaluatorHook: {EMPTY}")


@pytest.mark.parametrize("what", ["steps", "max_steps"])
def test_a_fraction_of_a_step_is_a_whole_one_and_said(tmp_path: Path, log: LogLines, what: str) -> None:
    made = tiny.estimator(tmp_path).train(tiny.data, **{what: 2.5})
    assert made.get_variable_value("global_step") == 3, "as tf.estimator has it"
    assert warnings(log) == [f"WARNING train: {what}=2.5 is no whole number: it is taken as 3."]
    assert made.evaluate(tiny.data, steps=np.float32(1.5))["global_step"] == 3
    assert log.having("[2/2]")
    assert log.having("evaluate: steps=1.5 is no whole number: it is taken as 2.")


def test_whole_numbers_of_another_type_and_infinity_are_fine(tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path).train(tiny.data, steps=np.float64(2.0))
    made.train(tiny.once, max_steps=math.inf)
    assert made.get_variable_value("global_step") == 4
    made.evaluate(tiny.once, steps=math.inf)
    assert not warnings(log)


def test_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"train: Must specify steps > 0, given: nan\. Leave it out"):
        tiny.estimator(tmp_path).train(tiny.data, steps=math.nan)


def test_queues_that_end_count_as_data_that_end(tmp_path: Path, log: LogLines) -> None:
    def queued() -> Any:
        x = tf.compat.v1.train.limit_epochs(tf.constant([1.0, 2.0]), num_epochs=2)
        x = tf.compat.v1.train.batch([x], 1, enqueue_many=False)
        return {"x": x[0]}, 2 * x[0]

    tiny.estimator(tmp_path).train(queued, steps=100)
    assert log.having("the data of input_fn ended at step 2, before steps=100 was reached.")
