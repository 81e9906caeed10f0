"""Cells of `tf.contrib.tensorboard`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {
    "": "?tensorboard The package tensorboard has it, as tensorboard.plugins.projector: pip install tensorboard."
}
