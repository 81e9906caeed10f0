"""What Lightwell needs of TensorFlow that has no public door. Nothing else in the package reaches behind `tf.*`.

Each entry says why it is needed and what would replace it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def add_listeners(hook: Any, listeners: Sequence[Any]) -> None:
    """Adds listeners to a user's own `CheckpointSaverHook`.

    `train(saving_listeners=...)` promises to call them also when the user brings the hook; the class takes listeners
    only in its constructor.
    """
    hook._listeners.extend(listeners)
