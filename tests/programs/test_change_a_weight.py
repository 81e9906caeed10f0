"""A program of TensorFlow 1 changes a weight from outside, both ways."""

from __future__ import annotations

import pytest
from tests.programs.cases import WAYS
from tests.programs.conftest import Outcomes


@pytest.mark.parametrize("way", WAYS)
def test_the_model_goes_on_from_it(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("change_a_weight", way)
    assert printed["kernel"] == [[0.5], [0.5]]
    assert printed["rows"] == pytest.approx([1.25] * 4)
