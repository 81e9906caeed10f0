"""TensorFlow's own hooks in a fused training: the same lines, files and stops as step by step."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import children, tiny
from tests.conftest import LogLines
from tests.run.engine import fused_models as models
from tests.run.engine.fused_runs import Calls, Look, batches, events, train
from tests.run.hooks.conftest import Clock

import lightwell as lw

v1 = tf.compat.v1
T = v1.train

HOOKS: dict[str, Callable[[Path], list[Any]]] = {
    "log": lambda _: [T.LoggingTensorHook({"mean": "the_mean:0"}, every_n_iter=4)],
    "log each": lambda _: [T.LoggingTensorHook(["the_mean:0"], every_n_iter=1)],
    "log seldom, stop": lambda _: [
        T.LoggingTensorHook(["the_mean:0"], every_n_iter=9),
        T.StopAtStepHook(num_steps=13),
    ],
    "log beside one that is told in bulk": lambda _: [
        Look(1, ["the_mean:0"], in_bulk=True),
        T.LoggingTensorHook(["the_sums:0"], every_n_iter=5),
    ],
    "count": lambda own: [T.StepCounterHook(every_n_steps=5, output_dir=str(own))],
    "summaries": lambda own: [T.SummarySaverHook(save_steps=4, output_dir=str(own), scaffold=T.Scaffold())],
    "stop": lambda _: [T.StopAtStepHook(last_step=11)],
    "final": lambda _: [T.FinalOpsHook([])],
}


def without_stale(lines: list[str]) -> list[str]:
    """TensorFlow's counter hook reads the step while it changes, and now and then complains without reason."""
    return [line for line in lines if "has not been increased" not in line]


@pytest.mark.parametrize("hooks", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("data", [None, 14], ids=["endless", "ending"])
def test_it_does_the_same_at_the_same_steps(tmp_path: Path, hooks: Any, data: int | None) -> None:
    runs, own = [], []
    for fuse in (False, "auto"):
        directory = tmp_path / f"own {fuse}"
        directory.mkdir()
        made = hooks(directory)
        runs.append(train(tmp_path / str(fuse), models.dropout, fuse, hooks=made, data=batches(data), steps=18))
        runs[-1].lines = without_stale(runs[-1].lines)
        own.append(events(directory))
    runs[0].check_same(runs[1])
    assert own[0] == own[1]
    assert runs[1].error == ""


def test_a_saver_of_the_users_saves_at_the_same_steps(tmp_path: Path) -> None:
    runs = []
    for fuse in (False, "auto"):
        directory = tmp_path / str(fuse)
        runs.append(train(directory, models.dropout, fuse, hooks=[T.CheckpointSaverHook(str(directory), save_steps=6)]))
    runs[0].check_same(runs[1])
    assert {name.partition(":")[0] for name in runs[1].weights} >= {f"model.ckpt-{step}" for step in (0, 6, 12, 18, 23)}


@pytest.mark.parametrize("fails", [True, False])
def test_a_nan_of_the_loss_is_seen_at_its_step(tmp_path: Path, fails: bool) -> None:
    runs = []
    for fuse in (False, "auto"):
        hook = T.NanTensorHook("add:0", fail_on_nan_loss=fails)
        runs.append(train(tmp_path / str(fuse), models.nan_at(9), fuse, hooks=[hook]))
    runs[0].check_same(runs[1])
    assert "NaN loss during training" in runs[1].error


def test_a_counter_by_two_is_left_to_the_hook(tmp_path: Path) -> None:
    runs = [
        train(tmp_path / str(fuse), models.counting_by(2), fuse, hooks=HOOKS["log seldom, stop"](tmp_path))
        for fuse in (False, "auto")
    ]
    runs[0].check_same(runs[1])


class Own(T.LoggingTensorHook):  # type: ignore[misc]
    """A subclass may do anything."""


@pytest.mark.parametrize(
    "hook",
    [
        Own(["the_mean:0"], every_n_iter=1),
        T.NanTensorHook("the_mean:0"),
        T.GlobalStepWaiterHook(0),
        T.FeedFnHook(dict),
    ],
    ids=lambda hook: type(hook).__name__,
)
def test_others_stay_what_they_are_and_see_every_step(tmp_path: Path, log: LogLines, hook: Any) -> None:
    logging.getLogger("tensorflow").setLevel(logging.DEBUG)
    config = lw.RunConfig(str(tmp_path), tf_random_seed=1)
    lw.Estimator(models.dropout, config=config).train(batches(), steps=2, hooks=[hook])
    assert log.having("one by one") == [
        f"DEBUG Steps run one by one: the hook {type(hook).__name__} looks at every step."
    ]


def test_a_cadence_in_seconds_waits_for_the_clock(tmp_path: Path, log: LogLines, clock: Clock) -> None:
    class MovesTheClock(lw.ScheduledHook):
        """Lets a minute and a half go by at step 30 and at step 60."""

        def next_look(self, count: int) -> int:
            return (count // 30 + 1) * 30

        def after_run(self, run_context: Any, run_values: Any) -> None:
            clock.ahead += 90

    calls = Calls()
    hook = T.LoggingTensorHook({"w": "w/Read/ReadVariableOp:0"}, every_n_secs=60)
    tiny.estimator(tmp_path).train(tiny.data, steps=80, hooks=[MovesTheClock(), hook, calls])
    assert len(log.having("INFO w = ")) == 3
    assert max(calls.steps) > 1


_TRAINING = """
import json, logging, sys
sys.path.insert(0, sys.argv[1])
from tests.renamed import rename
rename("tensorflow.python.training.basic_session_run_hooks", **json.loads(sys.argv[3]))
import numpy as np, tensorflow as tf
import lightwell as lw
T = tf.compat.v1.train
lines, heard = [], []
tf.get_logger().addFilter(lambda record: lines.append(record.getMessage()))
tf.get_logger().setLevel("INFO")

def model_fn(features, mode):
    with tf.name_scope("the"):
        mean = tf.reduce_mean(tf.compat.v1.get_variable("w", [3]) - features, name="mean")
    loss = tf.square(mean)
    step = T.GradientDescentOptimizer(0.1).minimize(loss, T.get_global_step())
    return lw.EstimatorSpec(mode, mean, loss, step)

class Listener(T.CheckpointSaverListener):
    def after_save(self, session, step):
        heard.append(int(step))

config = lw.RunConfig(tf_random_seed=1, save_summary_steps=None, log_step_count_steps=None)
est = lw.Estimator(model_fn, sys.argv[2], config)
hooks = [T.LoggingTensorHook({"mean": "the/mean:0"}, every_n_iter=4, formatter=lambda held: f"mean {held['mean']:.6f}"),
         T.StopAtStepHook(last_step=11), T.CheckpointSaverHook(sys.argv[2], save_steps=5)]
data = lambda: tf.data.Dataset.from_tensors(np.float32([1, 2, 3])).repeat()
est.train(data, steps=20, hooks=hooks, saving_listeners=[Listener()])
again = T.LoggingTensorHook(["the/mean:0"], every_n_iter=2, formatter=lambda held: "mean")
est.train(data, max_steps=14, hooks=[again])
print(json.dumps({
    "logged": [line for line in lines if line.startswith("mean")], "heard": heard,
    "saved": est.get_variable_value("w").tolist(),
    "step": int(est.get_variable_value("global_step")), "version": tf.__version__,
    "told": [line for line in lines if "which Lightwell leans on" in line],
}))
"""


def test_a_tensorflow_that_keeps_its_counts_elsewhere_has_its_hooks_called_on_every_step(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    renamed = {"_iter_count": "_runs", "_last_step": "_final_step", "_listeners": "_heirs"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _TRAINING, str(root), str(tmp_path / str(number)), json.dumps(names)],
            env=children.environment(TF_CPP_MIN_LOG_LEVEL="3"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, names in enumerate(({}, renamed))
    ]
    printed = [process.communicate() for process in running]
    today, tomorrow = (json.loads(out.splitlines()[-1] if out else err) for out, err in printed)
    assert today["told"] == []
    assert len(today["logged"]) == 3 + 2
    assert (today["step"], today["heard"]) == (14, [0, 5, 10, 11])
    for same in ("logged", "saved", "step"):
        assert tomorrow[same] == today[same], same
    assert tomorrow["heard"] == []
    start = f"TensorFlow {today['version']} has no "
    assert tomorrow["told"] == [
        f"{start}CheckpointSaverHook._listeners, which Lightwell leans on. The saving_listeners of train() are not "
        "called: pass them to the CheckpointSaverHook of yours.",
        f"{start}LoggingTensorHook._iter_count, which Lightwell leans on. A LoggingTensorHook is called on every step, "
        "and steps are not fused beside it.",
        f"{start}StopAtStepHook._last_step, which Lightwell leans on. A StopAtStepHook is called on every step, and "
        "steps are not fused beside it.",
    ]
