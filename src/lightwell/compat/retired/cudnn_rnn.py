"""Cells of `tf.contrib.cudnn_rnn`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {"": "!Use tf.keras.layers.LSTM or tf.keras.layers.GRU, which run on cuDNN where they can."}
