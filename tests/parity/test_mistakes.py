"""A wrong use raises what it raised in tf.estimator 2.15: programs still catch it, and find the words they look for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.parity import recordings
from tests.parity.mistakes import FAMILIES, MISTAKES, NOTHING, configs, raised_by, verbs
from tests.parity.mistakes.differences import DIFFERENT
from tests.parity.mistakes.phrases import is_in

import lightwell.estimator
from lightwell.errors import LightwellError

RECORDED: dict[str, dict[str, Any]] = {
    name: found for family in FAMILIES for name, found in recordings.load_json(f"mistakes/{family}")["raised"].items()
}
ON_PURPOSE = {*verbs.MISTAKES, *configs.MISTAKES}


def _difference(name: str) -> str | None:
    """What is raised here where that is meant to differ from the recording."""
    return next((kind for pattern, (kind, _) in DIFFERENT.items() if re.fullmatch(pattern, name)), None)


def test_every_mistake_is_recorded() -> None:
    assert list(MISTAKES) == list(RECORDED)


def test_every_phrase_is_in_the_recorded_message() -> None:
    with_phrase = {name: found for name, found in RECORDED.items() if "phrase" in found}
    assert all(is_in(found["phrase"], found["message"]) for found in with_phrase.values())
    assert len(with_phrase) > 1000


def test_every_difference_is_one_of_the_mistakes() -> None:
    assert [pattern for pattern in DIFFERENT if not any(re.fullmatch(pattern, name) for name in MISTAKES)] == []


@pytest.mark.parametrize("name", MISTAKES)
def test_raises_what_the_original_raised(name: str, tmp_path: Path) -> None:
    recorded, different = RECORDED[name], _difference(name)
    error = raised_by(MISTAKES[name], lightwell.estimator, tmp_path / "model_dir")
    caught_as = [NOTHING] if error is None else [kind.__name__ for kind in type(error).__mro__]
    assert (different or recorded["type"]) in caught_as, f"{error}"
    if different is None and "phrase" in recorded:
        assert is_in(recorded["phrase"], str(error)), f"no {recorded['phrase']!r} in: {error}"
    # Raised on purpose, not out of the depths; Python itself answers for read-only attributes and unknown arguments.
    is_pythons = isinstance(error, AttributeError) or "unexpected keyword argument" in str(error)
    assert name not in ON_PURPOSE or error is None or isinstance(error, LightwellError) or is_pythons, repr(error)
