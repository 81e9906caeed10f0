"""Cells of `tf.contrib.crf`."""

from __future__ import annotations

from collections.abc import Mapping

_PLACES = {
    "cells": "CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell",
    "decoding": "crf_decode viterbi_decode",
    "scores": """
        crf_binary_score crf_log_likelihood crf_log_norm crf_multitag_sequence_score crf_sequence_score crf_unary_score
    """,
}
CELLS: Mapping[str, str] = {
    name: f"lightwell.compat.contrib.crf.{file}:{name}" for file, names in _PLACES.items() for name in names.split()
}
