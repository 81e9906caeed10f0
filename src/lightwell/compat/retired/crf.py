"""Cells of `tf.contrib.crf`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import ADDONS

CELLS: Mapping[str, str] = {"": ADDONS}
