"""Cells of `tf.contrib.cudnn_rnn`."""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "lightwell.compat.contrib.cudnn_rnn"
CELLS: Mapping[str, str] = (
    {name: f"{_HERE}.layers:{name}" for name in ("CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh")}
    | {name: f"{_HERE}.cells:{name}" for name in ("CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell")}
    | {"": "!Use CudnnLSTM or CudnnGRU: their variables are those that checkpoints hold; nothing has to be converted."}
)
