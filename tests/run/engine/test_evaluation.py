"""Evaluation: what it returns, how far it goes, what it writes and says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"), steps=2)


def summaries(directory: Path) -> list[tuple[int, list[str]]]:
    v1.summary.FileWriterCache.get(str(directory)).flush()
    events = [event for file in sorted(directory.glob("events.*")) for event in v1.train.summary_iterator(str(file))]
    return [(event.step, [value.tag for value in event.summary.value]) for event in events if event.summary.value]


def test_the_result_is_sorted_with_the_step_last(trained: lw.Estimator) -> None:
    result = trained.evaluate(tiny.once)
    assert list(result) == ["loss", "mae", "global_step"]
    w, b = trained.get_variable_value("w"), trained.get_variable_value("b")
    errors = w * tiny.X + b - tiny.Y
    assert result["loss"] == pytest.approx(np.square(errors).mean(), rel=1e-5)
    assert result["mae"] == pytest.approx(np.abs(errors).mean(), rel=1e-5)
    assert [type(value) for value in result.values()] == [np.float32, np.float32, np.int64]


def test_the_loss_is_the_mean_over_batches(trained: lw.Estimator) -> None:
    uneven = trained.evaluate(lambda: tiny.data(repeat=1, batch=7))["loss"]
    w, b = trained.get_variable_value("w"), trained.get_variable_value("b")
    squares = np.square(w * tiny.X + b - tiny.Y)
    assert uneven == pytest.approx((squares[:7].mean() + squares[7:].mean()) / 2, rel=1e-5)


@pytest.mark.parametrize("hooks", [None, [v1.train.SessionRunHook()]], ids=["warm", "hooked"])
def test_steps_stop_it_and_are_counted_aloud(trained: lw.Estimator, log: LogLines, hooks: Any) -> None:
    trained.evaluate(tiny.data, steps=3, hooks=hooks)
    assert log.having("Evaluation [") == [f"INFO Evaluation [{done}/3]" for done in (1, 2, 3)]
    log.lines.clear()
    trained.evaluate(tiny.data, steps=25, hooks=hooks)
    counted = [int(re.findall(r"\[(\d+)/25\]", line)[0]) for line in log.having("Evaluation [")]
    assert counted == [*range(2, 25, 2), 25]


def test_the_end_of_the_data_stops_it_too(trained: lw.Estimator, log: LogLines) -> None:
    assert trained.evaluate(tiny.once, steps=100) == trained.evaluate(tiny.once)
    assert not log.having("Evaluation [100/100]")


def test_no_data_at_all_is_no_error(trained: lw.Estimator) -> None:
    result = trained.evaluate(lambda: tiny.data(repeat=0))
    assert (result["loss"], result["global_step"]) == (0, 2)


def test_what_is_said(trained: lw.Estimator, log: LogLines) -> None:
    result = trained.evaluate(tiny.once, name="said", hooks=[v1.train.SessionRunHook()])
    said = [re.sub(r"\d\d+[\d:T.-]*", "…", line) for line in log.lines]
    path = trained.latest_checkpoint()
    assert "INFO Starting evaluation at …" in said
    assert "INFO Finished evaluation at …" in said
    assert any(line.startswith("INFO Inference Time : ") for line in log.lines)
    numbers = f"global_step = 2, loss = {result['loss']!s}, mae = {result['mae']!s}"
    assert f"INFO Saving dict for global step 2: {numbers}" in log.lines
    assert log.lines[-1] == f"INFO Saving 'checkpoint_path' summary for global step 2: {path}"


def test_what_is_written(trained: lw.Estimator) -> None:
    trained.evaluate(tiny.once, name="written")
    directory = Path(trained.eval_dir("written"))
    assert directory.name == "eval_written"
    assert summaries(directory) == [(2, ["loss", "mae"]), (2, ["checkpoint_path"])]
    trained.evaluate(tiny.once, name="written")
    assert len(list(directory.glob("events.*"))) == 1
    assert len(summaries(directory)) == 4


def test_a_chosen_checkpoint_is_evaluated_and_recorded(trained: lw.Estimator) -> None:
    first = Path(trained.model_dir) / "model.ckpt-0"
    result = trained.evaluate(tiny.once, checkpoint_path=first, name="first")
    assert (result["global_step"], result["mae"]) == (0, tiny.X.mean())
    (_, (step, tags)) = summaries(Path(trained.eval_dir("first")))
    assert (step, tags) == (0, ["checkpoint_path"])


def test_an_untrained_model_is_evaluated_with_a_warning(tmp_path: Path, log: LogLines) -> None:
    result = tiny.estimator(tmp_path / "none").evaluate(tiny.once)
    assert (result["global_step"], result["mae"]) == (0, tiny.X.mean())
    (line,) = log.having("Could not find trained model")
    assert line.startswith(f"WARNING Could not find trained model in model_dir: {tmp_path}/none")
    assert not log.having("checkpoint_path")


def test_hooks_of_the_call_and_of_the_model_are_called_in_order(tmp_path: Path) -> None:
    calls: list[str] = []

    class Spy(v1.train.SessionRunHook):
        def __init__(self, name: str) -> None:
            self.name = name

        def after_run(self, run_context: Any, run_values: Any) -> None:
            calls.append(self.name)

        def end(self, session: Any) -> None:
            calls.append(f"{self.name} end")

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear(features, labels, mode, {})._replace(evaluation_hooks=[Spy("model")])

    made = tiny.estimator(tmp_path, model_fn)
    made.train(tiny.data, steps=1)
    for _ in range(2):
        calls.clear()
        made.evaluate(tiny.once, hooks=[Spy("call")])
        assert calls == ["call", "model", "call", "model", "call end", "model end"]
    calls.clear()
    made.evaluate(tiny.once)
    assert calls == ["model", "model", "model end"]


def test_an_error_leaves_nothing_half_done(trained: lw.Estimator) -> None:
    def bad() -> Any:
        return tiny.once().map(lambda f, y: ({"x": tf.debugging.check_numerics(f["x"] / (f["x"] - 6), "six")}, y))

    with pytest.raises(tf.errors.InvalidArgumentError, match="six"):
        trained.evaluate(bad)
    assert trained.evaluate(tiny.once)["global_step"] == 2
    assert tf.executing_eagerly()


def test_it_sees_newer_weights_at_once(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path)
    losses = []
    for _ in range(3):
        made.train(tiny.data, steps=2)
        losses.append(made.evaluate(tiny.once)["loss"])
    assert losses == sorted(losses, reverse=True)
    assert len(set(losses)) == 3
