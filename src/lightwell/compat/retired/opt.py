"""Cells of `tf.contrib.opt`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import ADDONS

CELLS: Mapping[str, str] = {
    "AdamWOptimizer": "!Use tf.keras.optimizers.AdamW.",
    "LazyAdamOptimizer": "!Use tf.compat.v1.train.AdamOptimizer.",
    "": ADDONS,
}
