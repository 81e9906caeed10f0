"""Cells of `tf.contrib.summary`."""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = """
    SummaryWriter all_summary_ops always_record_summaries audio create_file_writer create_summary_file_writer eval_dir
    flush generic histogram image initialize never_record_summaries record_summaries_every_n_global_steps scalar
    should_record_summaries summary_writer_initializer_op
"""
CELLS: Mapping[str, str] = {name: f"lightwell.compat.contrib.summary:{name}" for name in _NAMES.split()} | {
    "": "!Use tf.compat.v1.summary in model_fn, or tf.summary with a writer.",
    "summary": "lightwell.compat.contrib.summary",
}
