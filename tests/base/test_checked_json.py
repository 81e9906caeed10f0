"""JSON that is read back: what is not as it should be is told by its place, and never raises anything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lightwell.base import checked_json as checked


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe\x00", "utf-16|codec"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    ],
)
def test_what_is_no_json(content: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        checked.parse(content)


@pytest.mark.parametrize(
    ("read", "data", "told"),
    [
        (checked.text, 3, "expected text, got 3"),
        (checked.number, -1, "expected a number, got -1"),
        (checked.number, True, "expected a number, got True"),
        (checked.number, 1.0, "expected a number, got 1.0"),
        (checked.number, 2**63, "expected a number, got 9223372036854775808"),
        (checked.real, float("inf"), "expected a finite number, got inf"),
        (checked.real, 10**400, "expected a number, got 10000"),
        (checked.any_number, "1", "expected a number, got '1'"),
        (checked.truth, 1, "expected true or false, got 1"),
        (checked.one_of("dense", "ragged"), "other", r"expected one of \['dense', 'ragged'\], got 'other'"),
        (checked.all_of(checked.number), {"a": 1}, "expected a list, got dict"),
        (checked.all_of(checked.number), [1, None], "expected a number, got None"),
        (checked.by_name(checked.number), [1], "expected an object, got list"),
        (checked.by_name(checked.number), {"a": "1"}, "a: expected a number, got '1'"),
        (checked.or_none(checked.number), "x", "expected a number, got 'x'"),
    ],
)
def test_what_is_of_another_kind(read: Callable[[Any], Any], data: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read(data)


@pytest.mark.parametrize("name", ["", ".", "..", "../other", "/etc/passwd", "a/b", "a\\b", "a\0b", 3, None])
def test_a_name_is_never_a_path(name: Any) -> None:
    with pytest.raises(ValueError, match=r"expected (the name of a file in this folder|text), got "):
        checked.file_name(name)
    assert checked.file_name("model.ckpt-3") == "model.ckpt-3"


def test_places_are_told() -> None:
    data = json.loads('{"shards": [{"rows": 1}, {"rows": "2"}], "more": 1}')

    def shard(one: Any) -> int:
        return checked.field(one, "rows", checked.number)

    with pytest.raises(ValueError, match="shards: rows: expected a number, got '2'"):
        checked.field(data, "shards", checked.all_of(shard))
    with pytest.raises(ValueError, match="'kinds' is missing"):
        checked.field(data, "kinds", checked.text)
    with pytest.raises(ValueError, match="expected an object with 'kinds', got list"):
        checked.field([], "kinds", checked.text)
    with pytest.raises(ValueError, match="'more' is not known"):
        checked.check_names(data, ["shards"])
    assert checked.optional(data, "kinds", checked.text, "none") == "none"
    assert checked.or_none(checked.text)(None) is None
