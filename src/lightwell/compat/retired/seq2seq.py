"""Cells of `tf.contrib.seq2seq`."""

from __future__ import annotations

from collections.abc import Mapping

_PLACES = {
    "decoder": "BasicDecoder BasicDecoderOutput Decoder dynamic_decode",
    "helpers": "CustomHelper GreedyEmbeddingHelper Helper SampleEmbeddingHelper TrainingHelper",
    "losses": "hardmax sequence_loss tile_batch",
}
CELLS: Mapping[str, str] = {
    name: f"lightwell.compat.contrib.seq2seq.{file}:{name}" for file, names in _PLACES.items() for name in names.split()
} | {
    "": "!Write attention over tf.compat.v1.nn.rnn_cell.RNNCell, or use tf.keras.layers.AdditiveAttention in model_fn."
}
