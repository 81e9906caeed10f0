"""The nearest names to one that does not exist: what did the user mean?"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_SECTION_SLIPS = {
    "feature": "features",
    "label": "labels",
    "layer": "layers",
    "weight": "weights",
    "variables": "weights",
    "variable": "weights",
    "params": "weights",
    "parameters": "weights",
    "slot": "slots",
    "gradient": "gradients",
    "grads": "gradients",
    "grad": "gradients",
    "update": "updates",
    "prediction": "predictions",
    "metric": "metrics",
    "collection": "collections",
    "tensor": "tensors",
    "activations": "layers",
    "outputs": "layers",
}


def nearest_paths(wanted: str, known: Iterable[str], most: int = 5) -> list[str]:
    """The known paths that come nearest to `wanted`, best first."""
    spellings = _spellings(wanted)
    scored = [(max(_likeness(spelling, path) for spelling in spellings), path) for path in known]
    good = sorted((pair for pair in scored if pair[0] >= 0.6), key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    return [path for _, path in good[:most]]


def _spellings(wanted: str) -> list[str]:
    """What the user may have meant: the text itself, with slips of form undone."""
    text = wanted.strip().strip("/").replace("\\", "/").replace(".", "/")
    text = re.sub(r"/+", "/", text).lower()
    head, _, rest = text.partition("/")
    found = [text]
    if head in _SECTION_SLIPS:
        found.append(f"{_SECTION_SLIPS[head]}/{rest}" if rest else _SECTION_SLIPS[head])
    for spelling in list(found):
        section, _, tail = spelling.partition("/")
        if section == "layers" and re.search(r"/(kernel|bias|gamma|beta|moving_\w+|embedding\w*|weights)$", tail):
            found.append(f"weights/{tail}")
        found.append(re.sub(r"/(output|outputs|activation)$", "", spelling))
        found.append(re.sub(r":0$", "", spelling))
    return list(dict.fromkeys(found))


def _likeness(spelling: str, path: str) -> float:
    low = path.lower()
    if spelling == low:
        return 2.0
    if low.endswith("/" + spelling):  # the section was left out
        return 1.5 - 0.01 * low.count("/")
    tail = spelling.partition("/")[2]
    if tail and low.endswith("/" + tail):  # another section
        return 1.2 if low.partition("/")[2] == tail else 1.1
    whole = difflib.SequenceMatcher(None, spelling, low).ratio()
    without = difflib.SequenceMatcher(None, spelling, low.partition("/")[2]).ratio() if "/" not in spelling else 0.0
    return max(whole, without)
