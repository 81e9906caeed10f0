"""Cells of `tf.contrib.distribute`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use tf.distribute; without num_gpus, a strategy takes all visible GPUs."}
