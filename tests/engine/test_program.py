"""A program is a value: frozen, and told apart by identity."""

from __future__ import annotations

import dataclasses

import pytest
from tests import tiny

import lightwell as lw
from lightwell.engine.build import Recipe, build


def test_it_cannot_be_changed_only_copied_with_changes() -> None:
    program = build(Recipe(tiny.linear, tiny.once, lw.ModeKeys.PREDICT, {}, lw.RunConfig()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        program.mode = "train"  # type: ignore[misc]
    other = dataclasses.replace(program, mode="eval")
    assert (other.mode, other.graph) == ("eval", program.graph)
    assert other != program
    assert program in {program}
