"""Cells of `tf.contrib.training`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {
    "HParams": "!Use a dict or a dataclass; Estimator(params=...) takes either.",
    "": "!Use tf.data for input and tf.compat.v1.train for sessions.",
}
