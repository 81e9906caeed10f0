"""Trainings whose step moves the counter by other than one, or reads it while it moves: what happens at which step.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives plain values; the same code for both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity import draw_scenes, model_dirs
from tests.parity.hook_scenes import batches
from tests.parity.result_scenes import log_lines

v1 = tf.compat.v1
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}
Mover = Callable[[Any], Any]
_KERNEL = 0.4 * np.cos(np.arange(9.0)).reshape(3, 3)
_JUMPS = np.array([0, 1, 0, 2, 0, 0], np.int64)


def moving(lib: Any, move: Mover) -> Callable[..., Any]:
    """A linear regression whose step does `move(counter)`."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [2, 1], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(features["x"] @ weight - labels))
        v1.summary.scalar("loss_again", loss)
        trained = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        # The original's hooks read the counter beside the step. A while of work before it moves leaves nothing open.
        work = tf.linalg.det(tf.eye(150) * (1 + tf.reduce_sum(features["x"])))
        with tf.control_dependencies([trained, work]):
            return lib.EstimatorSpec(mode, loss=loss, train_op=tf.group(move(v1.train.get_global_step())))

    return model_fn


def by(stride: int) -> Mover:
    """The counter moves by `stride`; not at all when it is 0."""
    return lambda counter: v1.assign_add(counter, stride) if stride else tf.no_op()


def in_jumps(counter: Any) -> Any:
    """The counter moves by one, two, three in turn: 1, 3, 6, 7, 9, 12, …"""
    return v1.assign_add(counter, 1 + tf.gather(_JUMPS, counter.read_value() % 6))


def _runs() -> Any:
    """How often the step has run, this time included."""
    count = v1.get_variable("runs", [], tf.int64, v1.zeros_initializer(), trainable=False)
    with tf.control_dependencies([count.assign_add(1)]):
        return count.read_value()


def growing(counter: Any) -> Any:
    """The counter moves by one, two, three, four, …: 1, 3, 6, 10, 15, …"""
    return v1.assign_add(counter, _runs())


def leaping(counter: Any) -> Any:
    """The counter moves by one, but once by 63."""
    return v1.assign_add(counter, tf.where(tf.equal(_runs(), 7), np.int64(63), np.int64(1)))


def each_third(counter: Any) -> Any:
    """The counter moves with each third step, as where gradients of three batches are added up."""
    return v1.assign_add(counter, tf.cast(tf.equal(_runs() % 3, 0), tf.int64))


def what_happened(model_dir: Path, lines: list[str]) -> dict[str, Any]:
    """At which steps something was saved, written or logged."""
    checkpoints = [int(path.stem.rpartition("-")[2]) for path in model_dir.glob("*.index")]
    written = [[event[0], event[2]] for event in model_dirs.events(model_dir) if event[1] == "summary"]
    return {
        "checkpoints": sorted(checkpoints),
        "events": written,
        "weight": model_dirs.values(model_dir)["weight"].tolist(),
        "logged": [line for line in lines if re.search("loss = |global_step/sec", line)],
    }


def _scene(name: str, move: Mover, *calls: dict[str, Any], data: int | None = None, **cadences: Any) -> None:
    def run(lib: Any, model_dir: Path) -> dict[str, Any]:
        config = lib.RunConfig(keep_checkpoint_max=None, **cadences)
        est = lib.Estimator(moving(lib, move), str(model_dir), config)

        def train() -> None:
            for call in calls:
                hooks = [make(model_dir) for make in call.get("hooks", ())]
                goal = {key: value for key, value in call.items() if key != "hooks"}
                est.train(batches(data), hooks=hooks, **goal)

        lines = log_lines(model_dir, train)
        return what_happened(model_dir, lines)

    SCENES[name] = run


_OFTEN = {"save_checkpoints_steps": 5, "save_summary_steps": 7, "log_step_count_steps": 3}
_SELDOM = {"save_checkpoints_steps": 25, "save_summary_steps": 30, "log_step_count_steps": 20}
_scene("by 10 with steps=95", by(10), {"steps": 95}, **_SELDOM)
_scene("by 10, each cadence shorter than a step", by(10), {"steps": 45}, **_OFTEN)
_scene("by 10 in two calls", by(10), {"steps": 25}, {"steps": 25}, **_SELDOM)
_scene("by 3 with max_steps=20", by(3), {"max_steps": 20}, **_OFTEN)
_scene("by 3 with steps=20", by(3), {"steps": 20}, save_checkpoints_steps=4, save_summary_steps=2)
_scene("by 3 in two calls", by(3), {"max_steps": 10}, {"max_steps": 22}, **_OFTEN)
_scene("by 2, saving each 5", by(2), {"max_steps": 20}, **_OFTEN)
_scene("by 2, saving each 4", by(2), {"max_steps": 20}, save_checkpoints_steps=4, log_step_count_steps=5)
_scene("by 0 to the end of the data", by(0), {}, data=9, save_checkpoints_steps=2, log_step_count_steps=2)
_scene("in jumps", in_jumps, {"max_steps": 40}, **_OFTEN)
_scene("in jumps, with steps", in_jumps, {"steps": 10}, {"steps": 10}, **_OFTEN)
_IRREGULAR: dict[str, Mover] = {"growing": growing, "leaping": leaping, "each third": each_third}
for _how, _mover in _IRREGULAR.items():
    _scene(f"{_how}, often", _mover, {"max_steps": 40}, **_OFTEN)
    _scene(f"{_how}, saving each 8", _mover, {"max_steps": 90}, {"steps": 20}, save_checkpoints_steps=8)
    _scene(f"{_how}, seldom, with steps", _mover, {"steps": 70}, **_SELDOM)
_scene("each third to the end of the data", each_third, {}, data=20, **_OFTEN)

_HOOKS: dict[str, Callable[[Path], Any]] = {
    "StopAtStepHook(num_steps)": lambda _: v1.train.StopAtStepHook(num_steps=13),
    "StopAtStepHook(last_step)": lambda _: v1.train.StopAtStepHook(last_step=13),
    "CheckpointSaverHook": lambda folder: v1.train.CheckpointSaverHook(str(folder), save_steps=4),
    "StepCounterHook": lambda folder: v1.train.StepCounterHook(every_n_steps=4, output_dir=str(folder)),
}
for _name, _hook in _HOOKS.items():
    for _stride in (1, 3):
        _scene(f"by {_stride} with {_name}", by(_stride), {"max_steps": 20, "hooks": [_hook]}, **_OFTEN)
    # The original's StepCounterHook reads the counter beside the step: where it moves by chance, now before, now after.
    for _how, _mover in _IRREGULAR.items() if _name != "StepCounterHook" else ():
        _scene(f"{_how} with {_name}", _mover, {"max_steps": 20, "hooks": [_hook]}, **_OFTEN)


def warming_up(lib: Any) -> Callable[..., Any]:
    """A step that reads the counter for its rate and assigns it beside, as BERT's does: the order is left open."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        counter = v1.train.get_or_create_global_step()
        weight = v1.get_variable("weight", [3, 1], initializer=v1.constant_initializer(0.2))
        seen = v1.get_variable("seen", [], initializer=v1.zeros_initializer(), trainable=False)
        loss = tf.reduce_mean(tf.square(features["x"] @ weight - labels))
        step = tf.cast(counter, tf.float32)
        rate = 0.2 * tf.where(step < 20, step / 20, 1 - step / 100)
        (gradient,) = tf.gradients(loss, [weight])
        updates = [weight.assign(weight - rate * gradient), seen.assign_add(step)]
        return lib.EstimatorSpec(mode, loss=loss, train_op=tf.group(*updates, counter.assign(counter + 1)))

    return model_fn


def _reads_the_counter_while_it_moves(lib: Any, model_dir: Path) -> Any:
    est = draw_scenes.estimator(lib, model_dir, warming_up(lib))
    est.train(draw_scenes.batches, steps=60)
    return draw_scenes.weights(model_dir)


# What the program leaves open the original does not always do the same: the recording holds several runs.
OPEN_SCENES = {"reads the counter while it moves": _reads_the_counter_while_it_moves}


def two_optimizers(lib: Any) -> Callable[..., Any]:
    """Two networks against each other, an optimizer each, one after the other; the loss is the sum of both."""

    def dense(x: Any, size: int, name: str) -> Any:
        kernel = v1.get_variable(f"{name}/kernel", [3, size], initializer=v1.constant_initializer(_KERNEL[:, :size]))
        bias = v1.get_variable(f"{name}/bias", [size], initializer=v1.constant_initializer(0.1))
        return tf.nn.bias_add(x @ kernel, bias)

    def judged(x: Any) -> Any:
        with v1.variable_scope("judge", reuse=v1.AUTO_REUSE):
            return dense(tf.nn.relu(dense(x, 3, "hidden")), 1, "out")

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        with v1.variable_scope("maker"):
            made = dense(tf.nn.relu(dense(features["x"], 3, "hidden")), 3, "out")
        real, fake = judged(features["x"]), judged(made)
        found_out = tf.reduce_mean(tf.nn.softplus(-real)) + tf.reduce_mean(tf.nn.softplus(fake))
        deceived = tf.reduce_mean(tf.nn.softplus(-fake))
        first = v1.train.AdamOptimizer(0.01).minimize(found_out, var_list=v1.trainable_variables("judge"))
        with tf.control_dependencies([first]):
            counter, of_maker = v1.train.get_global_step(), v1.trainable_variables("maker")
            second = v1.train.AdamOptimizer(0.02, beta1=0.5).minimize(deceived, counter, var_list=of_maker)
        return lib.EstimatorSpec(mode, loss=found_out + deceived, train_op=tf.group(first, second))

    return model_fn


def _losses_of_two_optimizers(lib: Any, model_dir: Path) -> Any:
    est = draw_scenes.estimator(lib, model_dir, two_optimizers(lib), save_summary_steps=3)
    est.train(draw_scenes.batches, steps=60)
    return {"weights": draw_scenes.weights(model_dir), "losses": model_dirs.scalars(model_dir, "loss")}


SCENES["losses of two optimizers"] = _losses_of_two_optimizers
