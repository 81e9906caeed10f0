"""A variable that a hook fetches beside the step: the value that the step left, in a program of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

v1 = tf.compat.v1


class Fetches(v1.train.SessionRunHook):  # type: ignore[misc]
    """Fetches the counter, a weight and a tensor beside each step, and reads both variables once it is over."""

    def __init__(self) -> None:
        self.beside: list[Any] = []
        self.after: list[Any] = []

    def before_run(self, run_context: Any) -> Any:
        self.variables = [v1.train.get_global_step(), v1.trainable_variables()[0]]
        return v1.train.SessionRunArgs({"variables": self.variables, "loss": (run_context.original_args.fetches,)})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.beside.append([float(value) for value in run_values.results["variables"]])
        self.after.append([float(value) for value in run_context.session.run(self.variables)])


@pytest.fixture
def _tensorflow_1() -> Iterator[None]:
    v1.disable_v2_tensorshape()
    yield
    v1.enable_v2_tensorshape()


@pytest.mark.usefixtures("_tensorflow_1")
def test_it_is_what_the_step_left(tmp_path: Path) -> None:
    hook = Fetches()
    feeds_only = v1.train.FeedFnHook(dict)  # asks for nothing
    tiny.estimator(tmp_path).train(tiny.data, steps=10, hooks=[hook, feeds_only])
    assert hook.beside == hook.after
    assert [step for step, _ in hook.beside] == list(range(1, 11))


class FetchesByName(v1.train.SessionRunHook):  # type: ignore[misc]
    """Fetches variables beside each step by the names, and as the tensors, that they had in TensorFlow 1."""

    def __init__(self, weight: str) -> None:
        self.names = ["global_step:0", f"{weight}:0"]
        self.beside: list[Any] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs([self.names, [run_context.session.graph.get_tensor_by_name(self.names[1])]])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        (step, weight), (tensor,) = run_values.results
        self.beside.append((int(step), float(weight), float(tensor)))


@pytest.mark.usefixtures("_tensorflow_1")
def test_by_their_own_tensors_too(tmp_path: Path) -> None:
    variables = Fetches()
    estimator = tiny.estimator(tmp_path)
    estimator.train(tiny.data, steps=1, hooks=[variables])
    hook = FetchesByName(variables.variables[1].op.name)
    estimator.train(tiny.data, steps=3, hooks=[hook, variables])
    assert hook.beside == [(step, weight, weight) for step, weight in variables.beside[1:]]
    assert [step for step, _, _ in hook.beside] == [2, 3, 4]
