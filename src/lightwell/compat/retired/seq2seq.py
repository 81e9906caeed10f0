"""Cells of `tf.contrib.seq2seq`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import ADDONS

CELLS: Mapping[str, str] = {"": ADDONS}
