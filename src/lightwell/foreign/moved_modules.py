"""Private modules of TensorFlow 1 that today's TensorFlow has under other names, which old programs import.

Nothing of Lightwell uses them. A release that lacks the new name too costs the old one: its import fails as it does
without Lightwell.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

_TRACKABLE = "tensorflow.python.trackable"
_CHECKPOINT = "tensorflow.python.checkpoint.checkpoint"


def _tracking(folder: str) -> dict[str, str]:
    return {
        folder: _TRACKABLE,
        f"{folder}.base": f"{_TRACKABLE}.base",
        f"{folder}.data_structures": f"{_TRACKABLE}.data_structures",
        f"{folder}.tracking": f"{_TRACKABLE}.autotrackable",
        f"{folder}.util": _CHECKPOINT,
    }


# Old name -> name today.
MOVED: Mapping[str, str] = {
    **_tracking("tensorflow.python.training.tracking"),
    **_tracking("tensorflow.python.training.checkpointable"),
    "tensorflow.python.distribute.distribution_strategy_context": "tensorflow.python.distribute.distribute_lib",
    "tensorflow.python.training.distribution_strategy_context": "tensorflow.python.distribute.distribute_lib",
}


def moved_to(name: str) -> str | None:
    """Where the private module of that name is today; None if it is not among the moved ones, or gone there too."""
    target = MOVED.get(name)
    return target if target is not None and importlib.util.find_spec(target) is not None else None
