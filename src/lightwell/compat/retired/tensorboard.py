"""Cells of `tf.contrib.tensorboard`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use the package tensorboard: from tensorboard.plugins import projector."}
