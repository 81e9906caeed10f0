"""Statistics of units, as users see them: tables of a readable size, whatever the model's."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from lightwell.inside.watches.over_data import Moments
from lightwell.inside.watches.unit_stats import Statistics, UnitStats

ROWS = np.random.default_rng(0).normal(size=(50, 4, 5)).astype(np.float32)
ROWS[:, 1, 2] = 0.0


@pytest.fixture
def units() -> UnitStats:
    return Moments.of(ROWS).stats()


def test_of_many_units_the_most_and_the_least_active_are_shown(units: UnitStats) -> None:
    title, _, head, *lines = repr(units).splitlines()
    assert title == "20 units over 50 values, 1 of them dead; the 8 of largest and of smallest mean"
    assert head.split() == ["unit", "mean", "std", "min", "max", "zeros"]
    assert len(lines) == 16
    first = np.unravel_index(ROWS.mean(axis=0).argmax(), (4, 5))
    assert lines[0].startswith(f"{first[0]}, {first[1]} ")
    assert f"{ROWS[:, first[0], first[1]].mean():.4g}" in lines[0]


def test_a_line_for_each_path_is_over_all_of_its_units(units: UnitStats) -> None:
    found = Statistics({"layers/dense": units, "loss": Moments.of(np.array([1.0, 3.0])).stats()})
    head, dense, loss = (line.split() for line in repr(found).splitlines())
    assert head == ["path", "units", "mean", "std", "min", "max", "zeros", "dead"]
    expected = [ROWS.mean(dtype=np.float64), ROWS.std(dtype=np.float64), ROWS.min(), ROWS.max()]
    np.testing.assert_allclose([float(one) for one in dense[2:6]], expected, rtol=1e-3, atol=1e-3)
    assert dense[:2] == ["layers/dense", "4×5"]
    assert dense[6:] == ["5.0%", "1"]
    assert loss == ["loss", "scalar", "2", "1", "1", "3", "0.0%", "0"]
    assert repr(Statistics()).split() == head


def test_notebooks_get_tables_and_programs_plain_data(units: UnitStats) -> None:
    table = ElementTree.fromstring(Statistics({"layers/<b>": units})._repr_html_())
    assert next(cell.text for cell in table.iter("td")) == "layers/<b>"
    assert len(list(ElementTree.fromstring(units._repr_html_()).iter("tr"))) == 17
    data = json.loads(json.dumps(units.to_dict()))
    assert data["count"] == 50
    np.testing.assert_array_equal(data["zeros"], units.zeros)
