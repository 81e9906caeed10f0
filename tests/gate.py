"""Edits for tests of the gate itself, which enter by the recipe that the engine builds a program from."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw
from lightwell.inside.paths.sections.base import numbered
from lightwell.model.layers.gate import Edit, Passing
from lightwell.run.engine.build import Recipe, build
from lightwell.run.engine.program import Program

v1 = tf.compat.v1


def zeroed(*paths: str) -> Edit:
    """Zeros in place of the values under these paths."""
    return lambda passing: tf.zeros_like(passing.value) if passing.path in paths else passing.value


@dataclass
class Switches:
    """An edit that changes each value by a pattern once its switch is on; all are off until a run feeds them.

    Attributes:
        by_path: path -> its switch, a scalar of the graph.
    """

    by_path: dict[str, Any] = field(default_factory=dict)

    def __call__(self, passing: Passing) -> Any:
        with tf.init_scope():  # one switch per path, also for what is built in the body of a loop
            if passing.path not in self.by_path:
                self.by_path[passing.path] = v1.placeholder_with_default(tf.constant(0.0), [])
        switch, value = self.by_path[passing.path], passing.value
        if isinstance(value, tf.SparseTensor):
            return value.with_values(_changed(value.values, switch))
        return _changed(value, switch)


def _changed(value: Any, switch: Any) -> Any:
    """Not the same for all elements: a softmax or a normalisation would take that away again. What is no number to
    calculate with (ids, words, switches) changes places, so that it stays one that is known."""
    if not value.dtype.is_floating:
        turned = tf.reshape(tf.reverse(tf.reshape(value, [-1]), [0]), tf.shape(value))
        return tf.where(switch > 0.0, turned, value)
    pattern = 100.0 * tf.sin(1.0 + tf.range(tf.size(value), dtype=tf.float32))
    return value + tf.cast(switch * tf.reshape(pattern, tf.shape(value)), value.dtype)


def program_of(compute: Callable[[], Any], *edits: Edit) -> Program:
    """A program whose predictions are the tensors that `compute` gives, each changed by nobody after it."""

    def model_fn(features: Any) -> lw.EstimatorSpec:
        given = [leaf for leaf in tf.nest.flatten(compute()) if isinstance(leaf, tf.Tensor)]
        return lw.EstimatorSpec(lw.ModeKeys.PREDICT, {str(place): tensor for place, tensor in enumerate(given)})

    recipe = Recipe(model_fn, lambda: {"unused": tf.zeros([1])}, lw.ModeKeys.PREDICT, {}, _CONFIG, edits=edits)
    return build(recipe)


_CONFIG = lw.RunConfig(tf_random_seed=1)


def nodes(program: Program) -> list[tuple[str, str, tuple[str, ...]]]:
    """The graph, node for node: name, kind and inputs."""
    return [(node.name, node.op, tuple(node.input)) for node in program.graph.as_graph_def().node]


class Runs:
    """Runs a program's predictions; its variables hold numbers that depend on their names alone."""

    def __init__(self, program: Program, feeds: dict[str, Any] | None = None) -> None:
        self._program = program
        self._feeds = feeds or {}
        self._session = v1.Session(graph=program.graph)
        with program.graph.as_default():
            start = [v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()]
            self._session.run(start)
            for variable in v1.global_variables():
                if variable.dtype.base_dtype.is_floating:
                    variable.load(_numbers(variable), self._session)

    def __call__(self, feeds: dict[Any, Any] | None = None) -> list[Any]:
        fed = {**self._feeds, **(feeds or {})}
        return list(self._session.run(list(self._program.spec.predictions.values()), fed))


def _numbers(variable: Any) -> Any:
    random = np.random.RandomState(zlib.crc32(variable.op.name.encode()))
    return random.uniform(0.1, 0.9, size=variable.shape.as_list()).astype(variable.dtype.base_dtype.as_numpy_dtype)


def check_gate(
    compute: Callable[[], Any], feeds: Callable[[], dict[str, Any]] = dict, some_of: str = "(?!)"
) -> list[str]:
    """Every layer that `compute` calls can be reached both ways.

    A program whose edits change nothing is, node for node, the one without edits, and each edit of one value changes
    what the program computes; of those that match `some_of`, one. Each layer with an input has its input among them,
    under the path by which it is read. Gives the paths of outputs.
    """
    plain, idle = program_of(compute), program_of(compute, lambda passing: passing.value)
    assert nodes(idle) == nodes(plain)
    switches = Switches()
    switched = program_of(compute, switches)
    before, run = Runs(plain, feeds())(), Runs(switched, feeds())
    for one, same in zip(before, run(), strict=True):
        np.testing.assert_allclose(one, same, rtol=1e-5)  # sums that hold a switch are added up in another order
    layers = {path for path in switches.by_path if path.startswith("layers/")}
    assert {call.path for call in plain.layers} <= {path.partition("[")[0] for path in layers}
    inputs = {path for call in plain.layers for path, _ in numbered(f"{call.path}/input", call.inputs)}
    assert inputs <= layers
    still = {path for path in layers if _equal(before, run({switches.by_path[path]: 1.0}))}
    seldom = {path for path in layers if re.fullmatch(some_of, path)}
    assert not still - seldom, "an edit of these is without effect"
    assert not seldom or seldom - still
    assert [call.path for call in switched.layers] == [call.path for call in plain.layers]
    return sorted(layers - inputs)


def _equal(first: list[Any], second: list[Any]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))
