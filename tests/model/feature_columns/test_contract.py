"""Every kind of column, every way from features to tensors: numbers, gradients and names of TensorFlow 2.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.feature_columns import cases, programs, recorded

import lightwell.feature_columns as layers
from lightwell.model.interop.keras_scope import keras_in_model_fn

v1 = tf.compat.v1
CLOSE = {"rtol": 1e-5, "atol": 1e-6}


class Run:
    """All cases of one way, built and run once."""

    def __init__(self, way: str, checkpoint: str) -> None:
        with tf.Graph().as_default(), cases.open_session() as session:
            with layers.recording_columns(), keras_in_model_fn("train"):
                made = cases.build(way, checkpoint, layers)
            cases.start(session, v1.global_variables())
            self.numbers: dict[str, Any] = session.run(cases.fetches(made))
            self.facts = {case: cases.facts(one, v1.trainable_variables()) for case, one in made.items()}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: Any) -> str:
    return cases.write_checkpoint(str(tmp_path_factory.mktemp("old")))


@pytest.fixture(scope="module", params=cases.WAYS)
def way(request: Any, checkpoint: str) -> tuple[str, Run]:
    return request.param, Run(request.param, checkpoint)


def test_all_recorded_cases_ran(way: tuple[str, Run]) -> None:
    name, run = way
    assert run.facts.keys() == recorded.facts()["columns"][name].keys()


def test_variables_shapes_and_columns(way: tuple[str, Run]) -> None:
    name, run = way
    for case, facts in recorded.facts()["columns"][name].items():
        assert run.facts[case] == facts, case


def test_outputs_and_gradients(way: tuple[str, Run]) -> None:
    name, run = way
    expected = {key: value for key, value in recorded.numbers().items() if key.startswith(f"{name}|")}
    assert {f"{name}|{key}" for key in run.numbers} == expected.keys()
    for key, value in run.numbers.items():
        np.testing.assert_allclose(value, expected[f"{name}|{key}"], **CLOSE, err_msg=key)


@pytest.mark.parametrize("name", [*programs.NAMING, *programs.REFUSED])
def test_names_and_refusals(name: str) -> None:
    program = {**programs.NAMING, **programs.REFUSED}[name]
    with layers.recording_columns():
        found = programs.outcome(program, layers, around=keras_in_model_fn)
    assert found == recorded.facts()["programs"][name]


def test_parse_specs() -> None:
    with tf.Graph().as_default():
        assert cases.parse_specs() == recorded.facts()["parse_specs"]
