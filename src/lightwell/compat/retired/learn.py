"""Cells of `tf.contrib.learn`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import V1

CELLS: Mapping[str, str] = {
    "ModeKeys": "lightwell.compat.learn:ModeKeys",
    "RunConfig": f"{V1}:RunConfig",
    "io": "lightwell.compat.learn",
    "numpy_input_fn": "lightwell.compat.learn:numpy_input_fn",
    "pandas_input_fn": "lightwell.compat.learn:pandas_input_fn",
    "": "!Use tf.estimator.Estimator with a model_fn.",
}
