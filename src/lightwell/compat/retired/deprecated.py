"""Cells of `tf.contrib.deprecated`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use tf.compat.v1.summary."}
