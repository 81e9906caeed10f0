"""The logger: TensorFlow's own, so that `tf.compat.v1.logging.set_verbosity` and old log readers keep working."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager

# `tf.get_logger()` returns this very logger; asking `logging` for it needs no import of TensorFlow.
logger = logging.getLogger("tensorflow")


@contextlib.contextmanager
def without_lines_about(*words: str) -> Iterator[None]:
    """Suppresses log lines that contain one of the words: TensorFlow's lines about calls that the user did not make."""

    def is_about_something_else(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        return not any(word in text for word in words)

    logger.addFilter(is_about_something_else)
    try:
        yield
    finally:
        logger.removeFilter(is_about_something_else)


def without_deprecations() -> AbstractContextManager[None]:
    """Suppresses TensorFlow's lines about deprecated functions that Lightwell has to call."""
    return without_lines_about("deprecated")
