"""Cells of `tf.contrib.metrics`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use tf.compat.v1.metrics."}
