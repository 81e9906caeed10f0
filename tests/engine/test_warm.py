"""A warm session: called from threads, renewed under way, closed once nobody uses it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.engine.build import Recipe, build
from lightwell.engine.session import SessionPlan
from lightwell.engine.warm import WarmSession

v1 = tf.compat.v1


class Fed:
    """A program that multiplies what it is fed by a weight, and the checkpoints of that weight."""

    def __init__(self, directory: Path) -> None:
        self.x: Any = None
        self._directory = directory
        self.program = build(Recipe(self._model_fn, self._input_fn, lw.ModeKeys.PREDICT, {}, lw.RunConfig()))
        self.newest = self.checkpoint(2.0)
        self.plan = SessionPlan(lambda: self.newest)

    def _input_fn(self) -> Any:
        self.x = v1.placeholder(tf.float32, [None])
        return {"x": self.x}

    def _model_fn(self, features: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [], initializer=tf.ones_initializer())
        return lw.EstimatorSpec(mode, predictions={"y": features["x"] * weight})

    def checkpoint(self, weight: float) -> str:
        with tf.Graph().as_default(), v1.Session() as session:
            variables = [v1.get_variable("weight", initializer=weight), v1.train.create_global_step()]
            session.run(v1.global_variables_initializer())
            return v1.train.Saver(variables).save(session, str(self._directory / f"w{weight}"))

    def run(self, warm: WarmSession, value: float) -> float:
        return float(warm.run("y", self.program.spec.predictions["y"], [self.x], [np.array([value], np.float32)])[0])


@pytest.fixture
def fed(tmp_path: Path) -> Fed:
    return Fed(tmp_path)


def test_calls_from_threads_are_all_right(fed: Fed) -> None:
    warm, wrong = WarmSession(fed.program, fed.plan), []

    def call() -> None:
        wrong.extend(value for value in range(200) if fed.run(warm, value) != 2 * value)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    warm.close()
    assert wrong == []


def test_renewing_takes_up_the_newest_weights(fed: Fed) -> None:
    warm = WarmSession(fed.program, fed.plan)
    assert fed.run(warm, 3) == 6
    fed.newest = fed.checkpoint(5.0)
    assert fed.run(warm, 3) == 6
    warm.renew()
    assert fed.run(warm, 3) == 15
    warm.close()


def test_a_closed_one_says_so_and_may_be_closed_again(fed: Fed) -> None:
    warm = WarmSession(fed.program, fed.plan)
    warm.close()
    warm.close()
    with pytest.raises(lw.errors.UsageError, match=r"This predictor is closed. Open another with est.predictor\(\)"):
        fed.run(warm, 1)
