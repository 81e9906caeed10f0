"""Cells of `tf.contrib.framework`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import IN_SLIM, TRAIN

CELLS: Mapping[str, str] = {
    "": f"?tf_slim {IN_SLIM}",
    "assign_from_checkpoint": "!Use tf.compat.v1.train.init_from_checkpoint.",
    "create_global_step": f"{TRAIN}.create_global_step",
    "get_global_step": f"{TRAIN}.get_global_step",
    "get_or_create_global_step": f"{TRAIN}.get_or_create_global_step",
    "get_variables": "!Use tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, scope).",
    "get_variables_to_restore": "!Use tf.compat.v1.global_variables().",
    "init_from_checkpoint": f"{TRAIN}.init_from_checkpoint",
    "list_variables": "tensorflow:train.list_variables",
    "load_checkpoint": "tensorflow:train.load_checkpoint",
    "load_variable": "tensorflow:train.load_variable",
    "nest": "tensorflow:nest",
}
