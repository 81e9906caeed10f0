"""Two inputs are the same where they build the same ops, whatever TensorFlow calls their functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw
from lightwell.engine.build import Recipe, draft
from lightwell.engine.fingerprint import fingerprint

ROWS = np.zeros([4, 2], np.float32)


def digest(input_fn: Any) -> bytes | None:
    return fingerprint(draft(Recipe(lambda features: None, input_fn, lw.ModeKeys.PREDICT, {}, lw.RunConfig())))


def slices(array: Any = ROWS, batch: int = 2, key: str = "x") -> Any:
    return lambda: tf.data.Dataset.from_tensor_slices({key: array}).batch(batch)


def mapped(factor: float) -> Any:
    return lambda: slices()().map(lambda features: {"x": features["x"] * factor})


def test_the_same_pipeline_over_other_arrays_is_the_same() -> None:
    assert digest(slices()) == digest(slices(ROWS + 1)) == digest(slices(ROWS[:1]))


def test_functions_are_told_by_what_they_do_not_by_their_names() -> None:
    assert digest(mapped(2.0)) == digest(mapped(2.0)) != digest(mapped(3.0))


def test_what_makes_an_input_another() -> None:
    others = [slices(batch=3), slices(key="y"), slices(ROWS.astype(np.float64)), slices(np.zeros([4, 3], np.float32))]
    assert len({digest(slices()), *map(digest, others)}) == 5


def test_inputs_that_must_not_be_used_twice_have_none() -> None:
    def generated() -> Any:
        spec = tf.TensorSpec([], tf.int32)
        return tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=spec).batch(2)

    assert digest(lambda: slices()().shuffle(4)) is None
    assert digest(lambda: tf.data.Dataset.from_tensor_slices(tf.random.normal([4])).batch(2)) is None
    assert digest(generated) is None
