"""Cases of `tf.contrib.crf`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tests.compat.contrib.same import inputs

v1 = tf.compat.v1
BATCH, TIME, TAGS = 4, 5, 3
LENGTHS = [5, 3, 1, 0]


def _given(time: int = TIME) -> Any:
    scores = tf.constant(inputs(BATCH, time, TAGS))
    tags = tf.constant(np.random.RandomState(1).randint(0, TAGS, [BATCH, time]), tf.int32)
    lengths = tf.constant([min(length, time) for length in LENGTHS])
    return scores, tags, lengths, tf.constant(inputs(TAGS, TAGS, seed=2))


def scores(contrib: Any) -> Any:
    crf = contrib.crf
    unary, tags, lengths, transitions = _given()
    bitmap = tf.constant(np.random.RandomState(3).rand(BATCH, TIME, TAGS) > 0.4)
    likelihood, same = crf.crf_log_likelihood(unary, tags, lengths, transitions)
    return {
        "sequence": crf.crf_sequence_score(unary, tags, lengths, transitions),
        "multitag": crf.crf_multitag_sequence_score(unary, bitmap, lengths, transitions),
        "log_norm": crf.crf_log_norm(unary, lengths, transitions),
        "unary": crf.crf_unary_score(tags, lengths, unary),
        "binary": crf.crf_binary_score(tags, lengths, transitions),
        "likelihood": likelihood,
        "transitions": same,
        "long_lengths": crf.crf_log_norm(unary, tf.cast(lengths, tf.int64), transitions),
    }


def one_step(contrib: Any) -> Any:
    crf = contrib.crf
    unary, tags, lengths, transitions = _given(1)
    return {
        "sequence": crf.crf_sequence_score(unary, tags, lengths, transitions),
        "log_norm": crf.crf_log_norm(unary, lengths, transitions),
        "decoded": list(crf.crf_decode(unary, transitions, lengths)),
        "bitmap": crf.crf_multitag_sequence_score(unary, tf.one_hot(tags, TAGS) > 0, lengths, transitions)[:3],
    }


def training(contrib: Any) -> Any:
    unary, tags, lengths, _ = _given()
    logits = tf.tensordot(unary, v1.get_variable("w", [TAGS, TAGS]), 1)
    with v1.variable_scope("tagger"):
        likelihood, transitions = contrib.crf.crf_log_likelihood(logits, tags, lengths)
    loss = tf.reduce_mean(-likelihood)
    train_op = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
    step = [[loss, train_op]]
    return {
        "steps": step * 4,
        "transitions": transitions + 0,
        "decoded": list(contrib.crf.crf_decode(logits, transitions, lengths)),
    }


def any_shape(contrib: Any) -> Any:
    unary, tags, lengths, transitions = _given()
    unary = v1.placeholder_with_default(unary, [None, None, TAGS])
    tags = v1.placeholder_with_default(tags, [None, None])
    return {
        "likelihood": contrib.crf.crf_log_likelihood(unary, tags, lengths, transitions)[0],
        "decoded": list(contrib.crf.crf_decode(unary, transitions, lengths)),
    }


CASES = {"scores": scores, "one_step": one_step, "training": training, "any_shape": any_shape}


def facts(contrib: Any) -> Any:
    """Decoding outside of a graph."""
    tags, score = contrib.crf.viterbi_decode(inputs(6, TAGS), inputs(TAGS, TAGS, seed=2))
    one, its_score = contrib.crf.viterbi_decode(inputs(1, TAGS), inputs(TAGS, TAGS, seed=2))
    return {
        "tags": [int(tag) for tag in tags],
        "score": float(score),
        "one": [int(tag) for tag in one],
        "its_score": float(its_score),
        "is_list": isinstance(tags, list),
        "cells": [contrib.crf.CrfForwardRnnCell(tf.constant(inputs(TAGS, TAGS))).state_size],
    }
