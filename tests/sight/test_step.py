"""What a watch hands to its function."""

from __future__ import annotations

import pytest

import lightwell as lw
from lightwell.sight.step import Step


def _step(stopped: list[bool] | None = None) -> Step:
    values = {"layers/dense": 1, "weights/dense/kernel": 2, "weights/dense/bias": 3, "gradients/weights/dense/bias": 4}
    stop = (lambda: stopped.append(True)) if stopped is not None else (lambda: None)
    return Step(values, global_step=7, batch=2, mode="train", stop=stop)


def test_it_is_a_mapping() -> None:
    step = _step()
    assert len(step) == 4
    assert next(iter(step)) == "layers/dense"
    assert step["layers/dense"] == 1
    assert (step.global_step, step.batch, step.mode) == (7, 2, "train")
    assert "weights/dense/kernel" in step
    assert repr(step).startswith("Step(7, ['layers/dense'")


def test_the_end_of_a_path_is_enough_where_it_is_the_only_one() -> None:
    assert _step()["kernel"] == 2
    with pytest.raises(
        KeyError, match=r"reads no 'bias'; it reads 'weights/dense/bias', 'gradients/weights/dense/bias'"
    ):
        _step()["bias"]


def test_what_it_does_not_read_is_answered_with_what_it_does() -> None:
    with pytest.raises(lw.errors.PathError, match="This watch reads no 'layers/dens'; it reads 'layers/dense'"):
        _step()["layers/dens"]


def test_stop() -> None:
    stopped: list[bool] = []
    _step(stopped).stop()
    assert stopped
