"""Cells of `tf.contrib.seq2seq`."""

from __future__ import annotations

from collections.abc import Mapping

_PLACES = {
    "attention": """
        AttentionMechanism BahdanauAttention BahdanauMonotonicAttention LuongAttention LuongMonotonicAttention
    """,
    "attention_wrapper": "AttentionWrapper AttentionWrapperState",
    "beam_search": """
        BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState FinalBeamSearchDecoderOutput
    """,
    "decoder": "BasicDecoder BasicDecoderOutput Decoder dynamic_decode",
    "gather_tree": "gather_tree",
    "helpers": "CustomHelper GreedyEmbeddingHelper Helper SampleEmbeddingHelper TrainingHelper",
    "losses": "hardmax sequence_loss tile_batch",
    "monotonic": "monotonic_attention safe_cumprod",
    "scheduled": "InferenceHelper ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper",
}
CELLS: Mapping[str, str] = {
    name: f"lightwell.compat.contrib.seq2seq.{file}:{name}" for file, names in _PLACES.items() for name in names.split()
} | {"": "!Write it over tf.compat.v1.nn.rnn_cell.RNNCell, or use tf.keras.layers.AdditiveAttention in model_fn."}
