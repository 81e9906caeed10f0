"""Cells of `tf.contrib.deprecated`."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = "audio_summary histogram_summary image_summary merge_all_summaries merge_summary scalar_summary"
CELLS: Mapping[str, str] = {name: f"lightwell.compat.contrib.deprecated:{name}" for name in _NAMES.split()}
