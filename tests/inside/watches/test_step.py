"""What a watch hands to its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.inside.paths import models

import lightwell as lw

KERNEL, BIAS = "weights/hidden/kernel", "weights/hidden/bias"
PATHS = ["layers/hidden", KERNEL, BIAS, f"gradients/{BIAS}"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: Any) -> tuple[lw.Estimator, Any, list[str]]:
    """A model, the step that a watch saw of it before it stopped, and what came of reading it by the wrong names."""
    seen: list[Any] = []
    errors: list[str] = []

    def failing(read: Callable[[], Any]) -> None:
        with pytest.raises(lw.errors.PathError) as caught:
            read()
        assert isinstance(caught.value, KeyError)
        errors.append(str(caught.value))

    def look(step: Any) -> None:
        seen.append(step)
        failing(lambda: step["bias"])
        failing(lambda: step["layers/hidde"])
        step.stop()

    made = models.estimator(models.everything, tmp_path_factory.mktemp("model"))
    made.train(models.data, steps=9, hooks=[lw.Watch(*PATHS, at=[2], do=look)])
    (step,) = seen
    return made, step, errors


def test_it_is_a_mapping_that_knows_where_it_is(shown: Any) -> None:
    _, step, _ = shown
    assert list(step) == PATHS
    assert len(step) == 4
    assert step["layers/hidden"].shape[0] == models.BATCH
    assert (step.global_step, step.batch, step.mode) == (2, 2, "train")
    assert KERNEL in step
    assert repr(step).startswith("Step(2, ['layers/hidden'")


def test_the_end_of_a_path_is_enough_where_it_is_the_only_one(shown: Any) -> None:
    _, step, errors = shown
    assert step["kernel"] is step[KERNEL]
    assert f"reads no 'bias'; it reads {BIAS!r}, 'gradients/{BIAS}'" in errors[0]


def test_what_it_does_not_read_is_answered_with_what_it_does(shown: Any) -> None:
    assert "This watch reads no 'layers/hidde'; it reads 'layers/hidden'" in shown[2][1]


def test_stop(shown: Any) -> None:
    assert shown[0].get_variable_value("global_step") == 2
