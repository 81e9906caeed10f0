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
    with pytest.raises(AttributeError, match=r"tf\.contrib\.seq2seq\.BahdanauAttention is gone"):
        seq2seq.BahdanauAttention(3, None)
