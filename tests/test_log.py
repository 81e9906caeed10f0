"""Lightwell's lines go where TensorFlow's go."""

from __future__ import annotations

import tensorflow as tf
from tests.conftest import LogLines

from lightwell.log import logger, without_deprecations


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
