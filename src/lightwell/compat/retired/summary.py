"""Cells of `tf.contrib.summary`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use tf.compat.v1.summary in model_fn, or tf.summary with a writer."}
