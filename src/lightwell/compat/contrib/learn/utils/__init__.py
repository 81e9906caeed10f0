"""`tf.contrib.learn.utils`: functions around exports."""

from __future__ import annotations

from lightwell.compat.contrib.learn import input_fn_utils
from lightwell.compat.contrib.learn.export_strategy import make_export_strategy
from lightwell.compat.contrib.learn.input_fn_utils import (
    InputFnOps,
    build_default_serving_input_fn,
    build_parsing_serving_input_fn,
)
from lightwell.compat.contrib.learn.utils import saved_model_export_utils

__all__ = [
    "InputFnOps",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
    "input_fn_utils",
    "make_export_strategy",
    "saved_model_export_utils",
]
