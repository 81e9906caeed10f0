"""Where Lightwell's lines go: TensorFlow's own logger, so that `tf.compat.v1.logging.set_verbosity` and old log readers
keep working. Gives the logger; formats nothing."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager

# `tf.get_logger()` returns this very logger; asking `logging` for it needs no import of TensorFlow.
logger = logging.getLogger("tensorflow")


@contextlib.contextmanager
def without_lines_about(*words: str) -> Iterator[None]:
    """A block without the lines that have one of these words in them: what TensorFlow tells of calls that are not the
    user's."""

    def is_about_something_else(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        return not any(word in text for word in words)

    logger.addFilter(is_about_something_else)
    try:
        yield
    finally:
        logger.removeFilter(is_about_something_else)


def without_deprecations() -> AbstractContextManager[None]:
    """A block without TensorFlow's lines about deprecated functions: those that Lightwell calls because there are no
    others are no news to a user."""
    return without_lines_about("deprecated")
