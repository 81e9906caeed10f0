"""What is leaned on is looked for where classes keep it, and what is missing is told once."""

from __future__ import annotations

import functools
from typing import Any

from lightwell.foreign.probes import missing_attributes, warn_once


class Base:
    def __init__(self) -> None:
        self._count = 0


def _decorated(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*args: Any) -> Any:
        return function(*args)

    return inner


class Hook(Base):
    on_class = 1

    @_decorated
    def begin(self) -> None:
        self._tensor = None

    @property
    def rate(self) -> int:
        return self._rate  # type: ignore[attr-defined, no-any-return]


def test_a_class_has_what_its_methods_set_or_read() -> None:
    assert missing_attributes(Hook, ["_count", "_tensor", "_rate", "rate", "on_class", "begin"]) == []
    assert missing_attributes(Hook, ["_gone", "_count", "_also"]) == ["Hook._gone", "Hook._also"]


def test_an_object_has_what_it_has() -> None:
    assert missing_attributes(Hook(), ["_count", "_tensor"]) == ["Hook._tensor"]
    assert missing_attributes(None, ["Part"], "tf.page") == ["tf.page.Part"]


def test_it_is_told_once(log: Any) -> None:
    for _ in range(3):
        warn_once("TensorFlow 9.9", ("Hook._gone", "Hook._also"), "Nothing works.")
    assert [line for line in log.lines if "TensorFlow 9.9" in line] == [
        "WARNING TensorFlow 9.9 has no Hook._gone, Hook._also, which Lightwell leans on. Nothing works."
    ]
