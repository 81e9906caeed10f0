"""What makes a training run step by step, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.engine.build import Recipe, build
from lightwell.engine.fuse_limits import why_not_fused
from lightwell.engine.program import Program

v1 = tf.compat.v1


def built(model_fn: Any = tiny.linear) -> Program:
    return build(Recipe(model_fn, tiny.data, lw.ModeKeys.TRAIN, {}, lw.RunConfig(tf_random_seed=1)))


@pytest.mark.parametrize("fuse_steps", ["auto", 1, 50])
def test_nothing_speaks_against_it(fuse_steps: Any) -> None:
    assert why_not_fused(built(), [], "", fuse_steps) is None


@pytest.mark.parametrize(
    ("hooks", "target", "fuse_steps", "reason"),
    [
        ([], "", False, "RunConfig.fuse_steps is off"),
        ([v1.train.GlobalStepWaiterHook(3)], "", "auto", "the hook GlobalStepWaiterHook looks at every step"),
        ([], "grpc://there:1", "auto", "the session is that of a cluster (grpc://there:1)"),
    ],
)
def test_the_reason_is_told(hooks: list[Any], target: str, fuse_steps: Any, reason: str) -> None:
    told = why_not_fused(built(), hooks, target, fuse_steps)
    assert told is not None
    assert told == reason


def test_queue_runners() -> None:
    program = built()
    with program.graph.as_default():
        queue = tf.queue.FIFOQueue(4, tf.float32)
        v1.train.add_queue_runner(v1.train.QueueRunner(queue, [queue.enqueue([1.0])]))
    assert why_not_fused(program, [], "", "auto") == "the input comes from queue runners"


def test_reference_variables() -> None:
    def old(features: Any, labels: Any, mode: str, params: Any) -> Any:
        w = v1.get_variable("w", [], use_resource=False)
        loss = tf.reduce_mean(tf.square(w * features["x"] - labels))
        step = v1.train.get_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, global_step=step)
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    assert why_not_fused(built(old), [], "", "auto") == "w (VariableV2) is a reference variable"


@pytest.mark.parametrize("wrong", [True, 0, -1, 2.5, "always"])
def test_the_setting_is_checked(wrong: Any) -> None:
    with pytest.raises(lw.errors.UsageError, match='fuse_steps should be "auto", False or a number of steps >= 1, got'):
        lw.RunConfig(fuse_steps=wrong)


def test_the_setting_can_be_replaced() -> None:
    assert lw.RunConfig().fuse_steps == "auto"
    assert lw.RunConfig().replace(fuse_steps=7).fuse_steps == 7
