"""Lightwell's lines go where TensorFlow's go."""

from __future__ import annotations

import tensorflow as tf

from lightwell.log import logger


def test_it_is_tensorflows_logger() -> None:
    assert logger is tf.get_logger()


def test_tensorflows_verbosity_governs_it() -> None:
    before = tf.compat.v1.logging.get_verbosity()
    try:
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
        assert not logger.isEnabledFor(20)
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
        assert logger.isEnabledFor(20)
    finally:
        tf.compat.v1.logging.set_verbosity(before)
