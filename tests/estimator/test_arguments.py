"""What is handed to an Estimator is checked at the door."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines

from lightwell.engine.train import Goal
from lightwell.errors import ModelFnError, UsageError, WrongType
from lightwell.estimator.arguments import check_model_fn, check_steps, checked_goal, checked_listeners, variant_of

v1 = tf.compat.v1


class Model:
    def method(self, features: Any, labels: Any, mode: str) -> None: ...

    def __call__(self, features: Any) -> None: ...


@pytest.mark.parametrize(
    "model_fn",
    [
        lambda features: None,
        lambda features, labels, mode, params, config: None,
        lambda self, features: None,
        lambda **anything: None,
        Model().method,
        Model(),
        functools.partial(lambda size, features: None, 3),
        functools.partial(lambda features, size: None, size=3),
    ],
)
def test_functions_of_all_kinds_pass(model_fn: Any) -> None:
    check_model_fn(model_fn, None)


@pytest.mark.parametrize(
    ("model_fn", "params", "error", "text"),
    [
        (None, None, ModelFnError, "model_fn must be provided to Estimator, got None. Expected a function"),
        ("m", None, WrongType, "model_fn must be a function, got str 'm'. Expected a function"),
        (lambda x: None, None, ModelFnError, r"must include features argument; it takes \['x'\]. Expected"),
        (
            lambda features: None,
            {},
            ModelFnError,
            r"does not include params argument, but params \({}\) is passed.*Add",
        ),
        (
            lambda features, foo, bar=1: None,
            None,
            ModelFnError,
            r"not expected args: \['bar', 'foo'\]. An Estimator gives",
        ),
    ],
)
def test_others_do_not(model_fn: Any, params: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        check_model_fn(model_fn, params)


def test_forgotten_params_are_a_warning(log: LogLines) -> None:
    def model_fn(features: Any, params: Any) -> None: ...

    def with_default(features: Any, params: Any = None) -> None: ...

    check_model_fn(with_default, None)
    check_model_fn(model_fn, {})
    assert log.lines == []
    check_model_fn(model_fn, None)
    assert log.having("includes params argument, but params are not passed to Estimator")[0].startswith("WARNING")


def test_goals() -> None:
    assert checked_goal(None, None) == Goal(None, None)
    assert checked_goal(3, None) == Goal(3, None)
    assert checked_goal(None, np.int64(5)) == Goal(None, 5)
    assert checked_goal(1.5, None) == Goal(1.5, None)


@pytest.mark.parametrize(
    ("steps", "max_steps", "error", "text"),
    [
        (1, 2, UsageError, "Can not provide both steps and max_steps, got steps=1 and max_steps=2. Leave one out"),
        (0, None, UsageError, "Must specify steps > 0, given: 0. Leave it out"),
        (None, -1, UsageError, "Must specify max_steps > 0, given: -1"),
        ("a", None, WrongType, "steps must be a number, got str 'a'"),
        (True, None, WrongType, "steps must be a number, got bool True"),
    ],
)
def test_goals_that_make_no_sense(steps: Any, max_steps: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        checked_goal(steps, max_steps)


def test_a_number_of_steps_may_be_left_out() -> None:
    check_steps("steps", None)
    check_steps("steps", 1)


def test_listeners() -> None:
    one = v1.train.CheckpointSaverListener()
    assert checked_listeners(None) == ()
    assert checked_listeners([one]) == checked_listeners((one,)) == (one,)
    for wrong in (one, [1], "ab"):
        with pytest.raises(WrongType, match="saving_listeners must be a list of CheckpointSaverListener, given: "):
            checked_listeners(wrong)  # type: ignore[arg-type]


def test_equal_taps_are_the_same_variant_and_functions_never() -> None:
    assert variant_of(None) is None
    assert variant_of(["a", "b"]) == variant_of(("a", "b"))
    assert variant_of("a") != variant_of("b")
    assert variant_of([len]) != variant_of([len])
