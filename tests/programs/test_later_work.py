"""What is not written yet answers with what to use, both ways."""

from __future__ import annotations

import pytest
from tests.programs.cases import WAYS
from tests.programs.conftest import Outcomes

pytestmark = pytest.mark.parametrize("way", WAYS)

INSTEAD = {
    "change_a_weight": "layer 'dense': 'kernel' cannot be set. What a layer shows is read from a checkpoint",
}


@pytest.mark.parametrize("wish", INSTEAD)
def test_it_says_what_to_use(outcomes: Outcomes, way: str, wish: str) -> None:
    kind, text = outcomes.printed("later_work", way)[wish]
    assert kind == "AttributeError"
    assert INSTEAD[wish] in text
