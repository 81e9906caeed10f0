"""What makes a run go step by step, and how it is told: a line of the log at DEBUG, and no other difference."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.run.engine.fused_runs import Calls

import lightwell as lw

v1 = tf.compat.v1


@pytest.fixture
def reasons(log: LogLines) -> Callable[[], list[str]]:
    """The reasons that were told since it was last asked."""
    logging.getLogger("tensorflow").setLevel(logging.DEBUG)

    def told() -> list[str]:
        found = [line.removeprefix("DEBUG Steps run one by one: ") for line in log.having("one by one")]
        log.lines.clear()
        return found

    return told


def by_queues() -> Any:
    queue = v1.train.slice_input_producer([tiny.X, tiny.Y], shuffle=False)
    x, y = v1.train.batch(queue, batch_size=4)
    return {"x": x}, y


def with_reference_variable(features: Any, labels: Any, mode: str) -> Any:
    w = v1.get_variable("w", [], use_resource=False)
    loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
    step = v1.train.get_global_step()
    return lw.EstimatorSpec(mode, loss=loss, train_op=v1.train.GradientDescentOptimizer(0.001).minimize(loss, step))


def with_noise_apart(features: Any, labels: Any, mode: str) -> Any:
    @tf.function(experimental_attributes={"_noinline": True})
    def noise() -> Any:
        return tf.random.normal([])

    spec = tiny.linear(features, labels, mode, {})
    drawn = v1.get_variable("drawn", [], trainable=False)
    return spec._replace(train_op=tf.group(spec.train_op, drawn.assign(noise())))


def linear(features: Any, labels: Any, mode: str) -> Any:
    return tiny.linear(features, labels, mode, {})


TRAININGS: dict[str, tuple[str, dict[str, Any]]] = {
    "off": (r"RunConfig.fuse_steps is off\.", {"fuse_steps": False}),
    "a hook": (
        r"the hook GlobalStepWaiterHook looks at every step\.",
        {"hooks": lambda: [v1.train.GlobalStepWaiterHook(0)]},
    ),
    "queues": (r"the input comes from queue runners\.", {"input_fn": by_queues}),
    "a reference": (r"w \(VariableV2\) is a reference variable\.", {"model_fn": with_reference_variable}),
    "a function apart": (
        r"\S+ \(\w+\) draws random numbers in a function that stays one\.",
        {"model_fn": with_noise_apart},
    ),
}


@pytest.mark.parametrize("kind", TRAININGS)
def test_a_training_says_why(tmp_path: Path, reasons: Any, kind: str) -> None:
    expected, given = TRAININGS[kind]
    calls = Calls()
    made = tiny.estimator(tmp_path, given.get("model_fn", linear), fuse_steps=given.get("fuse_steps", "auto"))
    hooks = [calls, *given.get("hooks", list)()]
    made.train(given.get("input_fn", tiny.data), steps=30, hooks=hooks)
    (told,) = reasons()
    assert re.fullmatch(expected, told), told
    assert calls.steps == [1] * 30


@pytest.mark.parametrize("fuse_steps", ["auto", 1, 50])
def test_where_nothing_speaks_against_it_nothing_is_said(tmp_path: Path, reasons: Any, fuse_steps: Any) -> None:
    calls = Calls()
    made = tiny.estimator(tmp_path, fuse_steps=fuse_steps)
    made.train(tiny.data, steps=30, hooks=[calls, v1.train.LoggingTensorHook(["w/Read/ReadVariableOp:0"], 10)])
    made.evaluate(tiny.once)
    list(made.predict(tiny.once))
    assert reasons() == []
    assert (max(calls.steps) > 1) == (fuse_steps != 1)


def test_hooks_that_do_nothing_around_steps_are_not_in_the_way(tmp_path: Path, reasons: Any) -> None:
    class OnlyBegins(v1.train.SessionRunHook):
        def begin(self) -> None:
            self.begun = True

        def end(self, session: Any) -> None:
            self.ended = True

    hook = OnlyBegins()
    tiny.estimator(tmp_path).train(tiny.data, steps=5, hooks=[hook])
    assert reasons() == []
    assert hook.begun
    assert hook.ended


def test_a_method_put_on_a_hook_itself_is_called_at_every_step(tmp_path: Path, reasons: Any) -> None:
    seen: list[int] = []
    hook = v1.train.SessionRunHook()
    hook.after_run = lambda run_context, run_values: seen.append(run_context.global_step)
    tiny.estimator(tmp_path).train(tiny.data, steps=5, hooks=[hook])
    assert seen == [1, 2, 3, 4, 5]
    assert reasons() == ["the hook SessionRunHook looks at every step."]


def predicting(predictions: Any, model_dir: Path) -> lw.Estimator:
    return tiny.estimator(model_dir, lambda features, mode: lw.EstimatorSpec(mode, predictions=predictions(features)))


def test_predictions_say_why(tmp_path: Path, reasons: Any) -> None:
    across = predicting(lambda features: {"across": features["x"][None], "out": features["x"]}, tmp_path)
    batches = list(across.predict(lambda: tiny.data(repeat=1, batch=3), yield_single_examples=False))
    assert [batch["across"].shape for batch in batches] == [(1, 3), (1, 3), (1, 2)]
    assert reasons() == ["strided_slice:0 may have another shape at each step."]
    endless = predicting(lambda features: {"out": features["x"]}, tmp_path)
    rows = endless.predict(lambda: {"x": tf.constant([1.0, 2.0])})
    assert [next(rows)["out"] for _ in range(3)] == [1, 2, 1]
    assert reasons() == ["the input is no dataset, and has no end."]
