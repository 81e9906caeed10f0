"""Where Lightwell's lines go: TensorFlow's own logger, so that `tf.compat.v1.logging.set_verbosity` and old log readers
keep working. Gives the logger; formats nothing."""

from __future__ import annotations

import logging

# `tf.get_logger()` returns this very logger; asking `logging` for it needs no import of TensorFlow.
logger = logging.getLogger("tensorflow")
