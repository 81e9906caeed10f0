"""Lightwell's lines go where TensorFlow's go."""

from __future__ import annotations

import tensorflow as tf
from tests.conftest import LogLines

from lightwell.base.log import logger, without_deprecations, without_lines_about


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


def test_what_only_lightwell_calls_is_not_told_as_deprecated(log: LogLines) -> None:
    with without_deprecations():
        logger.warning("linear_model is deprecated and will be removed")
        logger.warning("another line")
    logger.warning("their_function is deprecated and will be removed")
    assert log.having("another line")
    assert log.having("their_function is deprecated")
    assert not log.having("linear_model is deprecated")


def test_lines_about_other_things_stay(log: LogLines) -> None:
    with without_lines_about("dynamic_rnn (from", "/tmp/export-1"):
        logger.warning("From line 93: dynamic_rnn (from tensorflow.python.ops.rnn) is deprecated")
        logger.warning("Wrote /tmp/export-1")
        logger.warning("From line 7: their_function is deprecated")
    logger.warning("Wrote /tmp/export-1 again")
    assert log.having("From line") == log.having("their_function is deprecated")
    assert log.having("Wrote") == log.having("again")
