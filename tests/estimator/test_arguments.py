"""What is handed to an Estimator is checked at the door."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.errors import ModelFnError, UsageError, WrongType

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
    assert lw.Estimator(model_fn, "unused").model_dir == "unused"


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
        lw.Estimator(model_fn, "unused", params=params)


def test_forgotten_params_are_a_warning(log: LogLines) -> None:
    def model_fn(features: Any, params: Any) -> None: ...

    def with_default(features: Any, params: Any = None) -> None: ...

    lw.Estimator(with_default, "unused")
    lw.Estimator(model_fn, "unused", params={})
    assert not log.having("WARNING")
    lw.Estimator(model_fn, "unused")
    assert log.having("includes params argument, but params are not passed to Estimator")[0].startswith("WARNING")


def test_goals_of_any_kind_of_number(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path)
    reached = []
    for goal in ({"steps": 2}, {"max_steps": np.int64(5)}, {"steps": 1.5}, {"max_steps": 8.5}):
        made.train(tiny.data, **goal)
        reached.append(int(made.get_variable_value("global_step")))
    assert reached == [2, 5, 7, 9]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (
            {"steps": 1, "max_steps": 2},
            UsageError,
            "Can not provide both steps and max_steps, got steps=1 and max_steps=2. Leave one out",
        ),
        ({"steps": 0}, UsageError, "Must specify steps > 0, given: 0. Leave it out"),
        ({"max_steps": -1}, UsageError, "Must specify max_steps > 0, given: -1"),
        ({"steps": "a"}, WrongType, "steps must be a number, got str 'a'"),
        ({"steps": True}, WrongType, "steps must be a number, got bool True"),
    ],
    ids=str,
)
def test_goals_that_make_no_sense(given: dict[str, Any], error: type, text: str) -> None:
    est = lw.Estimator(lambda features: pytest.fail("built"), "unused")
    with pytest.raises(error, match=text):
        est.train(tiny.data, **given)
    if "max_steps" not in given:
        with pytest.raises(error, match=text):
            est.evaluate(tiny.data, **given)


def test_listeners(tmp_path: Path) -> None:
    told: list[int] = []

    class Listener(v1.train.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> None:
            told.append(int(global_step_value))

    one = Listener()
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=1, saving_listeners=(one,))
    assert told == [0, 1]
    for wrong in (one, [1], "ab"):
        with pytest.raises(WrongType, match="saving_listeners must be a list of CheckpointSaverListener, given: "):
            made.train(tiny.data, steps=1, saving_listeners=wrong)  # type: ignore[arg-type]
