"""`tf.contrib.tensorboard.plugins`."""

from __future__ import annotations

from lightwell.compat.contrib.tensorboard import projector as projector
