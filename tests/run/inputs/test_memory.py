"""Memory of arrays that is used again by the next call: nobody who still holds something of the last one can tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw

ROWS = 2**10  # of 4 KB: big enough to be used again


def echo(features: Any, mode: str) -> Any:
    return lw.EstimatorSpec(mode, predictions={"x": features})


def filled(number: int) -> Any:
    return np.full([ROWS, ROWS], number, np.float32)


WAYS: dict[str, Callable[[Any], Any]] = {
    "whole": tf.data.Dataset.from_tensors,
    "a row at a time": lambda array: tf.data.Dataset.from_tensor_slices(array).batch(1).take(3),
    "in no dataset": lambda array: tf.constant(array),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fuse_steps", ["auto", False])
def test_what_was_given_out_stays_as_it_was(tmp_path: Path, way: str, fuse_steps: Any) -> None:
    est = lw.Estimator(echo, tmp_path, lw.RunConfig(fuse_steps=fuse_steps))
    first: list[Any] = []
    for number in range(4):
        rows = est.predict(lambda number=number: WAYS[way](filled(number)), yield_single_examples=False)
        first.append(next(rows)["x"])
        rows.close()
    for number, found in enumerate(first):
        assert (found == number).all()


def test_a_prediction_that_goes_on_keeps_its_rows(tmp_path: Path) -> None:
    est = lw.Estimator(echo, tmp_path)

    def run(number: int) -> Any:
        return est.predict(lambda: tf.data.Dataset.from_tensor_slices(filled(number)).batch(64))

    running = run(1)
    seen = [next(running)["x"][0]]
    for number in (2, 3, 4):
        assert {float(row["x"][-1]) for row in run(number)} == {number}
        seen.append(next(running)["x"][0])
    seen += [row["x"][0] for row in running]
    assert seen == [1] * ROWS
