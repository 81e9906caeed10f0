"""Cells of `tf.contrib.eager`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use tf.GradientTape, tf.Variable and tf.compat.v1.enable_eager_execution."}
