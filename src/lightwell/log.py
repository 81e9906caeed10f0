"""Where Lightwell's lines go: TensorFlow's own logger, so that `tf.compat.v1.logging.set_verbosity` and old log readers
keep working. Gives the logger; formats nothing."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

# `tf.get_logger()` returns this very logger; asking `logging` for it needs no import of TensorFlow.
logger = logging.getLogger("tensorflow")


@contextlib.contextmanager
def without_deprecations() -> Iterator[None]:
    """A block without TensorFlow's lines about deprecated functions: those that Lightwell calls because there are no
    others are no news to a user."""

    def is_other(record: logging.LogRecord) -> bool:
        return "deprecated" not in record.getMessage()

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)
