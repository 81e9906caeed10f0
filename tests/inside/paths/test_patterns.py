"""One language of names: paths, globs, names without a section, and scopes of weights."""

from __future__ import annotations

import pytest

from lightwell.inside.paths.optimizer_state import weight_served_by
from lightwell.inside.paths.patterns import is_numbered, matches, matches_value, matches_weight, pattern_list


@pytest.mark.parametrize(
    ("path", "glob", "is_match"),
    [
        ("layers/lstm[0]", "layers/*[0]", True),
        ("layers/lstm0", "layers/*[0]", False),
        ("layers/dense", "layers/dens?", True),
        ("layers/dense/input", "layers/dens?", False),
    ],
)
def test_a_bracket_in_a_glob_is_the_number_of_an_output(path: str, glob: str, is_match: bool) -> None:
    assert matches(path, glob) is is_match


def test_a_glob_selects_inputs_only_by_name() -> None:
    assert not matches_value("layers/conv/input", True, "layers/*")
    assert matches_value("layers/conv/input", True, "layers/conv*/input")


@pytest.mark.parametrize("pattern", ["dense", "dense/*", "dense/kernel", "dense/kernel:0", "d*", "dens[ef]"])
def test_a_weight_is_matched_by_name_glob_or_scope(pattern: str) -> None:
    assert matches_weight("dense/kernel", pattern)
    assert not matches_weight("out/kernel", pattern)


def test_an_argument_takes_one_pattern_or_several() -> None:
    assert pattern_list("dense") == ["dense"]
    assert pattern_list(("dense", "out")) == ["dense", "out"]
    assert pattern_list(3) == [3]


def test_outputs_and_parts_are_numbered() -> None:
    assert is_numbered("layers/lstm[10]", "layers/lstm")
    assert is_numbered("weights/table/part_1", "weights/table")
    assert not is_numbered("layers/lstm_1[0]", "layers/lstm")


@pytest.mark.parametrize(
    ("slot", "in_any_scope", "weight"),
    [
        ("dense/kernel/Adam", False, "dense/kernel"),
        ("training/Adagrad/dense/kernel/m", False, "dense/kernel"),
        ("dense/dense/kernel/Adagrad", False, "dense/kernel"),
        ("mine/dense/kernel/m", False, None),
        ("mine/dense/kernel/m", True, "dense/kernel"),
        ("beta1_power", True, None),
    ],
)
def test_a_slot_serves_the_weight_whose_name_it_is_below(slot: str, in_any_scope: bool, weight: str | None) -> None:
    assert weight_served_by(slot, {"dense/kernel"}, in_any_scope=in_any_scope) == weight
