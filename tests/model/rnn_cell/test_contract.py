"""Every cell and wrapper against what TensorFlow 2.15.1 computed: numbers, gradients, names, shapes, sizes."""

from __future__ import annotations

import inspect
import json
import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.rnn_cell import cases, scopes

from lightwell import rnn_cell as rc

v1 = tf.compat.v1
DATA = pathlib.Path(__file__).parents[2] / "data" / "oracle-2.15.1"
FACTS = json.loads((DATA / "rnn_cells.json").read_text())
NUMBERS = dict(np.load(DATA / "rnn_cells.npz"))
CELLS = cases.cells(rc)
FUNCTIONS = cases.functions(rc)
PROGRAMS = scopes.programs(rc)


def shapes() -> dict[str, Any]:
    return {variable.op.name: variable.shape.as_list() for variable in v1.global_variables()}


def check(case: str, way: str) -> set[str]:
    """Compares one case with the recording; gives the kinds of operations its graph is made of."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        made = cases.WAYS[way](rc, CELLS[case], tf.float64 if "float64" in case else tf.float32)
        facts = FACTS["cells"][f"{case}/{way}"]
        assert shapes() == facts["variables"]
        assert made["output"].name == facts["output"]
        assert repr(made["cell"].state_size) == facts["state_size"]
        assert repr(made["cell"].output_size) == facts["output_size"]
        tf.nest.assert_same_structure(made["state"], made["cell"].state_size)
        values = cases.fetch(session, cases.results(made), v1.global_variables())
    recorded = {key for key in NUMBERS if key.startswith(f"{case}/{way}/")}
    assert {f"{case}/{way}/{key}" for key in values} == recorded
    for key, value in values.items():
        np.testing.assert_allclose(value, NUMBERS[f"{case}/{way}/{key}"], rtol=2e-5, atol=1e-6, err_msg=key)
    return {operation.type for operation in graph.get_operations()}


@pytest.mark.parametrize("way", cases.WAYS)
@pytest.mark.parametrize("case", CELLS)
def test_a_cell_gives_the_numbers_of_the_oracle(case: str, way: str) -> None:
    assert "Enter" not in check(case, way)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_recurrent_function_takes_our_cells(name: str) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        values = tf.nest.flatten(cases.fetch(session, FUNCTIONS[name](), v1.global_variables()))
        assert shapes() == FACTS["functions"][name]["variables"]
    assert len(values) == sum(key.startswith(f"{name}/") for key in NUMBERS)
    for index, value in enumerate(values):
        np.testing.assert_allclose(value, NUMBERS[f"{name}/{index}"], rtol=2e-5, atol=1e-6, err_msg=str(index))


@pytest.mark.parametrize("name", PROGRAMS)
def test_variables_have_the_names_of_the_oracle(name: str) -> None:
    assert scopes.outcome(PROGRAMS[name]) == FACTS["programs"][name]


@pytest.mark.parametrize("name", FACTS["signatures"])
def test_constructors_have_the_signatures_of_the_oracle(name: str) -> None:
    ours = inspect.signature(getattr(rc, name).__init__)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in ours.parameters.values()]
    assert str(inspect.Signature(bare)) == FACTS["signatures"][name]


def test_the_page_has_the_names_of_the_oracle() -> None:
    assert set(rc.__all__) == {*FACTS["signatures"], "LSTMStateTuple"}


def test_the_recording_is_of_the_oracle() -> None:
    assert FACTS["tensorflow"] == str(NUMBERS["tensorflow"]) == "2.15.1"


@pytest.mark.parametrize("case", ["lstm_everything", "gru", "multi", "dropout_seeded", "with_call", "overriding"])
def test_cells_work_in_loops_of_the_old_kind(case: str) -> None:
    """`tf.compat.v1.disable_control_flow_v2` is what TF 1 programs run with."""
    v1.disable_control_flow_v2()
    try:
        assert "Enter" in check(case, "dynamic_rnn")
    finally:
        v1.enable_control_flow_v2()
