"""Random programs agree in the ways of Lightwell, to the bit; and the fuzzer sees what it is there to see."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fuzz.compare import EXACT, Digits, compared
from tests.fuzz.lab import plain
from tests.fuzz.parts import KINDS
from tests.fuzz.reduce import alone, smaller
from tests.fuzz.run import Bench
from tests.fuzz.settled import MORE_RUNS, Settled, settled
from tests.fuzz.spec import draw, from_json
from tests.fuzz.ways import Found, differences, run_in
from tests.fuzz.write import written

SEEDS = (2, 9)
MANY = range(300)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(None, tmp_path_factory.mktemp("fuzz"), seconds=120)
    yield made
    made.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_ways_agree(bench: Bench, seed: int) -> None:
    spec = draw(seed)
    answers = run_in(bench, spec, ["single", "fused", "watched"])
    assert all("records" in answer for answer in answers.values())
    assert [record for record in answers["single"]["records"] if record[0].startswith("weights of")]
    assert differences(spec, answers) == []


def test_a_seed_is_a_program() -> None:
    for seed in MANY:
        spec = draw(seed)
        assert spec == draw(seed)
        assert from_json(spec.to_json()).to_json() == spec.to_json()
    assert len({draw(seed).digest() for seed in MANY}) == len(MANY)


def test_all_parts_are_drawn_and_every_program_is_one() -> None:
    drawn = set()
    for seed in MANY:
        spec = draw(seed)
        drawn |= {(part.family, part.kind) for part in spec.parts()}
        ast.parse(written(spec))
    assert set(KINDS) - drawn == set()


def test_smaller_programs_are_programs() -> None:
    spec = draw(7)
    tried = list(smaller(spec))
    assert len(tried) > 10
    for other in tried:
        assert other != spec
        ast.parse(written(other))


def _answer(*records: Any) -> dict[str, Any]:
    return {"records": [[label, plain(value)] for label, value in records]}


def test_numbers_are_compared_to_the_bit_or_within_digits() -> None:
    ours, other = _answer(("row", np.float32([1, 2]))), _answer(("row", np.float32([1, 2.0001])))
    assert compared(ours, ours, EXACT) == []
    assert [found.kind for found in compared(ours, other, EXACT)] == ["value:row"]
    assert compared(ours, other, Digits(1e-3)) == []
    assert compared(_answer(("n", 1)), _answer(("n", 2)), Digits(1.0, 1.0))


def test_order_count_and_type_are_compared() -> None:
    first, second = ("begin", 0), ("end", 0)
    assert compared(_answer(first, second), _answer(second, first), EXACT)[0].kind == "order:begin/end"
    assert compared(_answer(first), _answer(first, second), EXACT)[0].kind == "count"
    assert compared(_answer(("v", np.float32(1))), _answer(("v", np.float64(1))), Digits(1.0))


def test_a_hang_is_a_difference_and_an_error_is_compared_by_its_class() -> None:
    assert compared({"hang": "no answer"}, _answer(), EXACT)[0].kind == "hang"

    def failed(*kinds: str) -> dict[str, Any]:
        return {"records": [["failed", {"error": kinds[0], "kinds": kinds, "text": "", "told": ""}]]}

    assert compared(failed("Mine", "ValueError"), failed("ValueError"), EXACT) == []
    assert compared(failed("TypeError"), failed("ValueError"), EXACT)[0].kind == "failure"


def test_logged_numbers_are_compared_as_numbers() -> None:
    ours, other = _answer(("log", "loss = 0.12345, step = 3")), _answer(("log", "loss = 0.123451, step = 3"))
    assert compared(ours, other, Digits(1e-3)) == []
    assert compared(ours, _answer(("log", "loss = 0.2, step = 3")), Digits(1e-3))


def test_a_failure_is_a_program_by_itself(tmp_path: Path) -> None:
    found = compared(_answer(("row", 1)), _answer(("row", 2)), EXACT)[0]
    text = alone(draw(2), Found("single", "original", found))
    ast.parse(text)
    assert "fuse_steps=False" in text
    assert "tests.fuzz" not in text


def _settled(ours: dict[str, Any], *originals: dict[str, Any]) -> Settled:
    """What is left where the original gives these answers, one after the other."""
    more = iter([*originals[1:], *[originals[-1]] * MORE_RUNS])
    return settled(ours, originals[0], lambda: next(more), Digits(1e-4, 1e-5), lambda one: False)


def test_a_value_that_the_original_gives_in_another_run_is_excused_and_no_other() -> None:
    first = _answer(("row", np.float32(1)), ("row", np.float32(5)))
    again = _answer(("row", np.float32(2)), ("row", np.float32(5)))
    assert _settled(again, first, again).left == []
    assert [one.where for one in _settled(again, first, again).excused] == ["record 0: row"]
    wrong = _answer(("row", np.float32(2)), ("row", np.float32(6)))
    assert [one.where for one in _settled(wrong, first, again).left] == ["record 1: row"]
    assert _settled(wrong, first).runs == 1 + MORE_RUNS


def test_a_number_is_excused_as_far_as_runs_of_the_original_are_apart() -> None:
    first, again = (_answer(("row", np.float32([1, number]))) for number in (2, 2.01))
    assert _settled(_answer(("row", np.float32([1, 1.95]))), first, again).left == []
    assert _settled(_answer(("row", np.float32([1, 2.5]))), first, again).left
    # The other number of the same array is the same in all runs of the original.
    assert _settled(_answer(("row", np.float32([1.01, 2]))), first, again).left
    assert _settled(_answer(("row", np.float32([1, np.nan]))), first, again).left
    told = [_answer(("log", f"loss = {number}, step = {step}")) for number, step in ((2.0, 3), (2.01, 3), (1.95, 4))]
    assert _settled(_answer(("log", "loss = 1.95, step = 3")), *told[:2]).left == []
    assert _settled(told[2], *told[:2]).left


def test_another_order_is_excused_where_the_original_has_it_too() -> None:
    first, again = _answer(("a", 1), ("b", 1), ("c", 1)), _answer(("b", 1), ("a", 1), ("c", 1))
    assert _settled(again, first, again).left == []
    # What comes after it is compared with the run that has this order.
    assert [one.where for one in _settled(_answer(("b", 1), ("a", 1), ("c", 2)), first, again).left] == ["record 2: c"]
    assert _settled(_answer(("c", 1), ("a", 1), ("b", 1)), first, again).left


def test_events_are_compared_by_their_step() -> None:
    def events(*told: tuple[int, float]) -> dict[str, Any]:
        return _answer(("events", {"loss": [[step, np.float32(value)] for step, value in told]}))

    first = events((1, 0.5), (4, 0.25), (7, 0.125))
    found = compared(events((1, 0.5), (5, 0.25), (7, 0.125)), first, EXACT)
    assert [one.where for one in found] == ["record 0: events/loss/step 4", "record 0: events/loss/step 5"]
    assert compared(events((4, 0.25), (1, 0.5), (7, 0.125)), first, EXACT)
    assert compared(events((1, 0.5), (7, 0.125), (4, 0.25)), events((4, 0.25), (1, 0.5), (7, 0.125)), EXACT)
    assert compared(events((1, 0.5), (4, 0.25), (7, 0.125), (7, 0.125)), first, EXACT)
    # A step that the original tells now and then excuses that step alone.
    again = events((1, 0.5), (5, 0.2), (7, 0.125))
    assert _settled(events((1, 0.5), (5, 0.2), (7, 0.125)), first, again).left == []
    assert [one.where for one in _settled(events((1, 0.5), (5, 0.3), (7, 0.125)), first, again).left]
    assert [one.where for one in _settled(events((1, 0.5), (5, 0.2), (7, 0.25)), first, again).left] == [
        "record 0: events/loss/step 7"
    ]
