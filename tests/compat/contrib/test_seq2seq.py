"""`tf.contrib.seq2seq`: losses and decoding as TensorFlow 1.15.5 had them."""

from __future__ import annotations

import pytest
import tensorflow as tf
from tests.compat.contrib import same, seq2seq_cases

from lightwell import tf1

v1 = tf.compat.v1
seq2seq = tf1.contrib.seq2seq
RECORDED = same.recorded("seq2seq")["cases"]


@pytest.mark.parametrize("name", sorted(seq2seq_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(seq2seq_cases.CASES[name], tf1.contrib), RECORDED[name], name)


def test_refused() -> None:
    with pytest.raises(ValueError, match="Logits must be a"):
        seq2seq.sequence_loss(tf.zeros([2, 3]), tf.zeros([2]), tf.zeros([2]))
    with pytest.raises(ValueError, match="average_across_timesteps and sum_over_timesteps cannot both be set"):
        seq2seq.sequence_loss(tf.zeros([2, 3, 4]), tf.zeros([2, 3]), tf.zeros([2, 3]), sum_over_timesteps=True)
    with pytest.raises(TypeError, match="Expected decoder to be type Decoder"):
        seq2seq.dynamic_decode(3)
    cell = tf1.contrib.rnn.GRUCell(4)
    with pytest.raises(TypeError, match="attention_mechanism must be an AttentionMechanism"):
        seq2seq.AttentionWrapper(cell, 3)
    with pytest.raises(ValueError, match="mode must be 'recursive', 'parallel', or 'hard'"):
        seq2seq.monotonic_attention(tf.zeros([2, 3]), tf.zeros([2, 3]), "fast")
    with pytest.raises(ValueError, match="start_tokens must be a vector"):
        seq2seq.BeamSearchDecoder(cell, tf.zeros([5, 4]), [[1]], 0, tf.zeros([2, 4]), 2)
    with tf.Graph().as_default():
        wrapper = seq2seq.AttentionWrapper(cell, seq2seq.LuongAttention(4, tf.zeros([2, 3, 4])))
        with pytest.raises(ValueError, match="The shape of the AttentionWrapperState is expected to be"):
            wrapper.zero_state(2, tf.float32).clone(cell_state=tf.zeros([2, 5]))
        with pytest.raises(TypeError, match="Expected state to be instance of AttentionWrapperState"):
            wrapper(tf.zeros([2, 4]), tf.zeros([2, 4]))
        with pytest.raises(ValueError, match="exactly one entry per attention_mechanism"):
            seq2seq.AttentionWrapper(cell, [seq2seq.LuongAttention(4, tf.zeros([2, 3, 4]))], [1, 2])
