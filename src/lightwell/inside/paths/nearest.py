"""The nearest names to one that does not exist.

Slips of form are undone first (`Layers.Dense.kernel:0` is `weights/dense/kernel`), then letters are compared.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

from lightwell.inside.paths.catalogue import SECTIONS
from lightwell.inside.paths.patterns import is_glob, matches

# What people call a section, or a value that is its own section.
_SLIPS = {word: section.name for section in SECTIONS for word in section.also_called}
_WEIGHT = re.compile(r"/(kernel|bias|gamma|beta|moving_\w+|embedding_weights|embeddings|recurrent_kernel|weights?)$")
# How sure a guess is; the likeness of letters is at most 1.
_EXACT, _SECTION_LEFT_OUT, _PART_LEFT_OUT, _BELOW, _OTHER_SECTION = 6.0, 5.0, 4.0, 3.0, 2.0
_LEAST_LIKENESS = 0.6


def nearest_paths(text: Any, known: Iterable[str], most: int = 5, *, globs: bool = False) -> list[str]:
    """The known names that come nearest to a text, best first.

    Args:
        text: what the user wrote.
        known: the existing names, the more likely ones first.
        most: how many to give.
        globs: whether a glob may be suggested for a name that is the start of several.
    """
    names = list(known)
    if not isinstance(text, str) or not text.strip():  # a number in place of a name is like none
        return []
    candidates = spellings(text)
    scored = [(max(_score(rank, spelling, name) for rank, spelling in enumerate(candidates)), name) for name in names]
    best = max((score for score, _ in scored), default=0.0)
    if best < _LEAST_LIKENESS:
        return []
    least = best - 0.5 if best > 1 else max(_LEAST_LIKENESS, best - 0.2)
    order = {name: place for place, name in enumerate(names)}
    good = sorted((pair for pair in scored if pair[0] >= least), key=lambda pair: (-pair[0], order[pair[1]]))
    closest = [name for _, name in good]
    return [*(_globs(candidates, closest) if globs else []), *closest][:most]


def spellings(name: str) -> list[str]:
    """Corrected spellings of a name, most likely first; upper and lower case stay."""
    text = _plain(name)
    head, _, rest = text.partition("/")
    candidates = [text]
    slip = _SLIPS.get(head.lower(), head.lower())
    candidates.append(f"{slip}/{rest}" if rest else slip)
    for spelling in list(candidates):
        candidates.append(re.sub(r"/(outputs?|activations?|value)$", "", spelling))
        candidates.append(re.sub(r"/inputs$", "/input", spelling))
        candidates.append(re.sub(r"(:0|\[0\])$", "", spelling))
    candidates = [as_weight for spelling in candidates for as_weight in _as_weight(spelling)] + candidates
    return list(dict.fromkeys(candidates))


def _plain(name: str) -> str:
    """A path without what belongs to other notations: dots, quotes, calls, brackets around names."""
    text = name.strip().replace("\\", "/")
    text = re.sub(r"""\[\s*["']?([^\]"'\d][^\]"']*)["']?\s*\]""", r"/\1", text)  # features["age"], not lstm[0]
    text = re.sub(r"^(\w+)\((.*)\)$", r"\1/\2", text)  # grad(layers/dense)
    text = re.sub(r"\.(?!\*|$)", "/", text.strip(" ./\"'"))
    return re.sub(r"\s*/[\s/]*", "/", text)


def _as_weight(spelling: str) -> list[str]:
    """`layers/dense/kernel` is a weight, and `gradients/layers/dense/kernel` the gradient of one."""
    if not _WEIGHT.search(spelling):
        return []
    as_weight = re.sub(r"^((?:gradients|updates)/)?layers/", r"\1weights/", spelling)
    return [as_weight] if as_weight != spelling else []


def _score(rank: int, spelling: str, name: str) -> float:
    """The score of `name` for a spelling, which is the guess number `rank`."""
    text, low = spelling.lower(), name.lower()
    if text == low:
        return _EXACT - 0.01 * rank
    if is_glob(text):
        if matches(low, text):
            return _EXACT - 0.01 * rank
        text = text.replace("*", "").replace("?", "").rstrip("/")
    head, _, tail = text.partition("/")
    depth = 0.01 * low.count("/")
    if low.endswith(f"/{text}"):
        return _SECTION_LEFT_OUT - depth
    if tail and low.endswith(f"/{tail}") and low.startswith(f"{head}/"):
        return _PART_LEFT_OUT - depth
    if low.startswith(f"{text}/"):
        return _BELOW - 0.01 * rank - 0.1 * low.count("/input")
    if tail and low.endswith(f"/{tail}"):
        return _OTHER_SECTION - depth
    return _likeness(text, low)


def _likeness(text: str, low: str) -> float:
    """How alike two names are, letter by letter, from 0 to 1."""
    head, _, tail = text.partition("/")
    known_head, _, known_tail = low.partition("/")
    whole = _ratio(text, low)
    if not tail:
        parts = [0.9 * _ratio(text, part) for part in low.split("/")]
        return max(whole, _ratio(text, known_tail), _holds(text, known_tail), *parts)
    part = max(_ratio(tail, known_tail), _holds(tail, known_tail))
    return max(whole, part * (1.0 if head == known_head else 0.85))


def _holds(text: str, known: str) -> float:
    """The score of a name for a part of it."""
    return 0.85 + 0.1 * len(text) / len(known) if len(text) >= 3 and text in known else 0.0


def _ratio(first: str, second: str) -> float:
    """The likeness of two texts; how words are joined (`dense-1`, `dense 1`, `dense1`) counts for little."""
    if not first or not second:
        return 0.0
    joined = difflib.SequenceMatcher(None, re.sub(r"[\s_-]", "", first), re.sub(r"[\s_-]", "", second)).ratio()
    return 0.9 * joined + 0.1 * difflib.SequenceMatcher(None, first, second).ratio()


def _globs(candidates: list[str], closest: list[str]) -> list[str]:
    """The glob over the names, where they are several that start with what was written."""
    for spelling in candidates:
        start = f"{spelling.lower()}/"
        below = [name for name in closest if name.lower().startswith(start) and not name.endswith("/input")]
        if len(below) > 1:
            return [f"{below[0][: len(spelling)]}/*"]
    return []
