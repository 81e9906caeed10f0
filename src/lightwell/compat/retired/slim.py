"""Cells of `tf.contrib.slim`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import IN_SLIM

CELLS: Mapping[str, str] = {"": f"?tf_slim {IN_SLIM}"}
