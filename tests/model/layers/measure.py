"""Builds a case in a graph of its own and writes down all that a program could see of it.

Takes the module under test and a case; gives facts (names, shapes, collections) and numbers (outputs, losses, gradients
and what the update operations did), computed from variable values that depend on nothing but their place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tests.model.layers.cases import Case, Given

v1 = tf.compat.v1


class Measured(NamedTuple):
    """What a case did: JSON-like facts, and arrays by name."""

    facts: dict[str, Any]
    numbers: dict[str, Any]


def packed(numbers: dict[str, Any]) -> tuple[list[str], Any]:
    """Puts many small arrays into one: their names with shapes, and all values in a row."""
    names = [f"{name} {list(np.shape(value))}" for name, value in numbers.items()]
    return names, np.concatenate([np.zeros(0), *[np.ravel(value) for value in numbers.values()]]).astype(np.float32)


def measure(layers: Any, case: Case, *, run: bool = True) -> Measured:
    with tf.Graph().as_default():
        v1.set_random_seed(7)
        given = Given()
        outputs = tf.nest.flatten(case(layers, given))
        facts = _facts(outputs, given)
        if not run:
            return Measured(facts, {})
        fetches = _fetches(outputs, given)
        numbers = {}
        with v1.Session() as session:
            for training in [None] if given.switch is None else [True, False]:
                _assign_fixed_values(session)
                feeds = given.feeds if training is None else {**given.feeds, given.switch: training}
                measured = {**session.run(fetches, feeds), **_after_updates(session, feeds)}
                numbers |= {f"{'' if training is None else training}:{name}": value for name, value in measured.items()}
    return Measured(facts, numbers)


def _facts(outputs: list[Any], given: Given) -> dict[str, Any]:
    keys = v1.GraphKeys
    trainable = {variable.name for variable in v1.trainable_variables()}
    return {
        "outputs": [f"{output.name} {output.shape} {output.dtype.name}" for output in outputs],
        "variables": [
            f"{variable.name} {variable.shape} {variable.dtype.base_dtype.name}"
            f"{' trainable' if variable.name in trainable else ''}{' constrained' if variable.constraint else ''}"
            for variable in v1.global_variables()
        ],
        "updates": [update.name for update in v1.get_collection(keys.UPDATE_OPS)],
        "losses": [loss.name for loss in v1.get_collection(keys.REGULARIZATION_LOSSES)],
        "answers": given.answers,
    }


def _assign_fixed_values(session: Any) -> None:
    for place, variable in enumerate(v1.global_variables()):
        value = np.random.default_rng(place + 1).normal(size=variable.shape.as_list())
        if "variance" in variable.name or "stddev" in variable.name:
            value = np.abs(value) + 0.5
        variable.load(value.astype(variable.dtype.base_dtype.as_numpy_dtype), session)


def _fetches(outputs: list[Any], given: Given) -> dict[str, Any]:
    """Outputs, losses, and gradients of their weighed sum with respect to every input and trainable variable."""
    losses = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    weighed = [
        tf.reduce_sum(_weights(place, output) * tf.cast(output, tf.float32)) for place, output in enumerate(outputs)
    ]
    goal = tf.add_n(weighed + [tf.cast(loss, tf.float32) for loss in losses])
    gradients = tf.gradients(goal, [*given.feeds, *v1.trainable_variables()])
    return {
        **{f"output {place}": output for place, output in enumerate(outputs)},
        **{f"loss {place}": loss for place, loss in enumerate(losses)},
        **{f"gradient {place}": gradient for place, gradient in enumerate(gradients) if gradient is not None},
    }


def _weights(place: int, output: Any) -> Any:
    return tf.reshape(tf.cos(tf.cast(tf.range(tf.size(output)), tf.float32) + place), tf.shape(output))


def _after_updates(session: Any, feeds: dict[Any, Any]) -> dict[str, Any]:
    trained = {variable.name for variable in v1.trainable_variables()}
    others = [variable for variable in v1.global_variables() if variable.name not in trained]
    session.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS), feeds)
    return {f"after {place}": value for place, value in enumerate(session.run(others))}
