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
