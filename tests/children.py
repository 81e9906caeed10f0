"""Processes that tests start: what they find, and how they load TensorFlow without what nobody asks for."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
# In the path of a child; what is in it says why nothing can hide there.
_LEAN = ROOT / "tests" / "lean_children"


def environment(*folders: Path | str, **settings: str) -> dict[str, str]:
    """The environment of a child: ours, with Lightwell and then `folders` in its path, and these settings."""
    return {**os.environ, "PYTHONPATH": search_path(*folders), **settings}


def search_path(*folders: Path | str) -> str:
    """A PYTHONPATH of Lightwell and then `folders`."""
    return os.pathsep.join(map(str, (_LEAN, SOURCE, *folders)))
