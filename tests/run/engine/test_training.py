"""Training: how far it goes, what it leaves, and how it ends."""

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
from lightwell.errors import ModelDirError, UsageError

v1 = tf.compat.v1


def saved(directory: Path) -> list[int]:
    return sorted(int(file.stem.rpartition("-")[2]) for file in directory.glob("*.index"))


def by_hand(steps: int, rate: float = 0.001, batch: int = 4) -> tuple[float, float]:
    """The weight and the bias after some steps of gradient descent, in NumPy."""
    w, b = np.float32(1), np.float32(0)
    for step in range(steps):
        rows = np.arange(step * batch, (step + 1) * batch) % len(tiny.X)
        error = w * tiny.X[rows] + b - tiny.Y[rows]
        w, b = w - np.float32(rate * 2 * (error * tiny.X[rows]).mean()), b - np.float32(rate * 2 * error.mean())
    return float(w), float(b)


class Every(v1.train.SessionRunHook):
    """Sees every step."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.steps: list[int] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(run_context.loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.losses.append(float(run_values.results))
        self.steps.append(run_context.global_step)


@pytest.mark.parametrize("hooks", [[], [Every()]], ids=["alone", "watched"])
@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_it_takes_exactly_the_steps_it_was_told(tmp_path: Path, steps: int, hooks: list[Any]) -> None:
    made = tiny.estimator(tmp_path)
    assert made.train(tiny.data, steps=steps, hooks=hooks) is made
    assert saved(tmp_path) == [0, steps]
    w, b = by_hand(steps)
    assert made.get_variable_value("w") == pytest.approx(w, rel=1e-4)
    assert made.get_variable_value("b") == pytest.approx(b, rel=1e-4)


def test_steps_add_up_and_max_steps_do_not(tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=3)
    made.train(tiny.data, steps=3)
    assert saved(tmp_path)[-1] == 6
    made.train(tiny.data, max_steps=8)
    assert saved(tmp_path)[-1] == 8
    called: list[str] = []
    made.train(lambda: called.append("input"), max_steps=8)
    assert called == []
    assert log.lines[-1].startswith("WARNING Skipping training since max_steps has already saved.")


def test_the_end_of_the_data_is_a_good_end(tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path)
    made.train(lambda: tiny.data(repeat=3), steps=100)
    assert saved(tmp_path) == [0, 6]
    assert re.fullmatch(r"INFO Loss for final step: [\d.]+\.", log.lines[-1])
    made.train(lambda: tiny.data(repeat=3))
    assert saved(tmp_path)[-1] == 12


def test_no_data_at_all(tmp_path: Path, log: LogLines) -> None:
    tiny.estimator(tmp_path).train(lambda: tiny.data(repeat=0))
    assert saved(tmp_path) == [0]
    assert log.lines[-1] == "INFO Loss for final step: None."


def test_a_hook_sees_every_step_once(tmp_path: Path) -> None:
    hook = Every()
    tiny.estimator(tmp_path).train(tiny.data, steps=5, hooks=[hook])
    assert hook.steps == [1, 2, 3, 4, 5]
    assert hook.losses[0] == np.square(tiny.X[:4]).mean()


def test_the_last_loss_is_told(tmp_path: Path, log: LogLines) -> None:
    hook = Every()
    tiny.estimator(tmp_path).train(tiny.data, steps=5, hooks=[hook])
    (line,) = log.having("Loss for final step")
    assert float(line.removeprefix("INFO Loss for final step: ").rstrip(".")) == pytest.approx(hook.losses[-1])


def test_the_lines_of_a_training(tmp_path: Path, log: LogLines) -> None:
    tiny.estimator(tmp_path, save_checkpoints_steps=4, log_step_count_steps=2).train(tiny.data, steps=5)
    said = [re.sub(r"(loss|sec|step)( = |: )[\d.e+]+", r"\1\2#", line.removeprefix("INFO ")) for line in log.lines]
    said = [re.sub(r"\(\d+\.\d+ sec\)", "(# sec)", line) for line in said]
    prefix = f"into {tmp_path}/model.ckpt."
    assert [line for line in said if "Using config" not in line] == [
        "Calling model_fn.",
        "Done calling model_fn.",
        "Create CheckpointSaverHook.",
        "Graph was finalized.",
        "Running local_init_op.",
        "Done running local_init_op.",
        *_save(0, prefix),
        "loss = #, step = #",
        "global_step/sec: #",
        "loss = #, step = # (# sec)",
        *_save(4, prefix),
        "global_step/sec: #",
        "loss = #, step = # (# sec)",
        *_save(5, prefix),
        "Loss for final step: #",
    ]


def _save(step: int, prefix: str) -> list[str]:
    return [
        f"Calling checkpoint listeners before saving checkpoint {step}...",
        f"Saving checkpoints for {step} {prefix}",
        f"Calling checkpoint listeners after saving checkpoint {step}...",
    ]


def test_cadences_can_be_off(tmp_path: Path, log: LogLines) -> None:
    settings = {"save_checkpoints_steps": None, "save_summary_steps": 0, "log_step_count_steps": None}
    tiny.estimator(tmp_path, **settings).train(tiny.data, steps=5)
    assert saved(tmp_path) == []
    assert not log.having("loss = ")
    assert not log.having("global_step/sec")


def test_request_stop_ends_it_after_the_step(tmp_path: Path) -> None:
    class Stops(Every):
        def before_run(self, run_context: Any) -> Any:
            if len(self.steps) == 2:
                run_context.request_stop()
            return super().before_run(run_context)

    hook = Stops()
    tiny.estimator(tmp_path).train(tiny.data, steps=100, hooks=[hook])
    assert hook.steps == [1, 2, 3]
    assert saved(tmp_path) == [0, 3]


def test_an_error_of_a_hook_comes_out_as_it_is_and_nothing_more_is_saved(tmp_path: Path) -> None:
    class Fails(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            if run_context.global_step == 3:
                raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tiny.estimator(tmp_path).train(tiny.data, steps=100, hooks=[Fails()])
    assert saved(tmp_path) == [0]
    assert tf.executing_eagerly()


def test_an_interrupt_saves_before_it_leaves(tmp_path: Path, log: LogLines) -> None:
    class Interrupts(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            if run_context.global_step == 3:
                raise KeyboardInterrupt

    made = tiny.estimator(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        made.train(tiny.data, steps=100, hooks=[Interrupts()])
    assert saved(tmp_path) == [0, 3]
    assert log.having("WARNING Ctrl-C: saving a checkpoint before leaving.")
    made.train(tiny.data, max_steps=5)
    assert saved(tmp_path)[-1] == 5


def test_a_saver_hook_of_the_users_takes_the_place_of_ours(tmp_path: Path) -> None:
    told: list[int] = []

    class Listener(v1.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> None:
            told.append(int(global_step_value))

    hook = v1.train.CheckpointSaverHook(str(tmp_path), save_steps=3, checkpoint_basename="model.ckpt")
    tiny.estimator(tmp_path, save_checkpoints_steps=1).train(
        tiny.data, steps=4, hooks=[hook], saving_listeners=[Listener()]
    )
    assert saved(tmp_path) == told == [0, 3, 4]


def test_listeners_without_any_saver_are_a_mistake(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=None)
    text = r"train: There should be a CheckpointSaverHook to use saving_listeners\. Please set .*both are off"
    with pytest.raises(UsageError, match=text):
        made.train(tiny.data, steps=1, saving_listeners=[v1.train.CheckpointSaverListener()])


def test_a_train_op_that_does_not_count_is_told_and_can_still_be_stopped(tmp_path: Path, log: LogLines) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(train_op=tf.no_op())

    tiny.estimator(tmp_path, model_fn).train(lambda: tiny.data(repeat=3), steps=100)
    assert len(log.having("The global step is still 0")) == 1
    assert saved(tmp_path) == [0]


def test_a_full_disk_is_told_and_the_last_checkpoint_serves(tmp_path: Path) -> None:
    """The limit on the size of files stands in for the size of a disk."""
    import resource
    import signal

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        v1.get_variable("big", [200_000], trainable=False)
        return tiny.linear(features, labels, mode, {})

    made = tiny.estimator(tmp_path, model_fn, save_checkpoints_steps=1)

    class Fills(v1.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, hard))

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with pytest.raises(ModelDirError, match=r"The checkpoint of step 1 could not be written .*File too large"):
            made.train(tiny.data, steps=3, hooks=[Fills()])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert saved(tmp_path) == [0]
    made.train(tiny.data, max_steps=2)
    assert saved(tmp_path) == [0, 1, 2]


def test_a_seed_makes_a_run_that_can_be_repeated(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        noise = tf.random.normal([4])
        w = v1.get_variable("w", [], initializer=v1.random_normal_initializer())
        loss = tf.reduce_mean(tf.square(w * features["x"] + noise - labels))
        step = v1.train.get_global_step()
        return lw.EstimatorSpec(mode, loss=loss, train_op=v1.train.AdamOptimizer(0.1).minimize(loss, global_step=step))

    def result(name: str, hooks: list[Any]) -> float:
        made = tiny.estimator(tmp_path / name, model_fn, tf_random_seed=7)
        made.train(tiny.data, steps=20, hooks=hooks)
        return float(made.get_variable_value("w"))

    assert result("a", []) == result("b", []) == result("c", [Every()])
