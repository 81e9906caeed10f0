"""Every function and class against what TensorFlow 2.15.1 named, computed and learned; see `record_layers.py`."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from tests.model.layers.cases import CASES, NOT_RUN
from tests.model.layers.measure import measure, packed
from tests.model.layers.scopes import SCOPES
from tests.model.layers.signatures import signatures
from tests.model.layers.start import seeded_start

from lightwell import layers

FOLDER = pathlib.Path(__file__).parents[2] / "data" / "oracle-2.15.1"
RECORDED: dict[str, Any] = json.loads((FOLDER / "layers.json").read_text())
# 16-bit outputs are rounded at each step, in an order that kernels choose.
TOLERANCE = {"other-dtypes": 2e-3}


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    with np.load(FOLDER / "layers.npz") as stored:
        return {name: stored[name] for name in stored.files}


def test_the_recording_is_of_the_version_we_revive(numbers: dict[str, Any]) -> None:
    assert RECORDED["tensorflow"] == "2.15.1" == str(numbers["tensorflow"])


def test_public_names_are_the_recorded_ones() -> None:
    assert layers.__all__ == sorted(layers.__all__)
    assert layers.__all__ == RECORDED["names"]
    assert all(hasattr(layers, name) for name in layers.__all__)


@pytest.mark.parametrize("name", sorted(RECORDED["signatures"]))
def test_signature(name: str) -> None:
    public = type("public", (), {name: staticmethod(getattr(layers, name))})
    assert signatures(public)[name] == RECORDED["signatures"][name]


@pytest.mark.parametrize("name", [*CASES, *SCOPES])
def test_names_numbers_gradients_and_updates(name: str, numbers: dict[str, Any]) -> None:
    expected = dict(RECORDED["cases"][name])
    expected_names = expected.pop("numbers")
    measured = measure(layers, {**CASES, **SCOPES}[name], run=name not in NOT_RUN)
    assert json.loads(json.dumps(measured.facts)) == expected
    names, values = packed(measured.numbers)
    assert names == expected_names
    tolerance = TOLERANCE.get(name, 2e-5)
    np.testing.assert_allclose(values, numbers[name], rtol=tolerance, atol=tolerance)


def test_every_function_and_class_has_a_case() -> None:
    used = {name.partition("-")[0] for name in CASES}
    assert set(layers.__all__) - used == {"InputSpec", "Layer", "experimental"}


def test_a_graph_seed_gives_the_recorded_start_and_dropout_mask(numbers: dict[str, Any]) -> None:
    names, values = packed(seeded_start(layers))
    assert names == RECORDED["start"]
    np.testing.assert_allclose(values, numbers["start"], rtol=1e-5, atol=1e-6)
