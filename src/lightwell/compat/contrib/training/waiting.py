"""Waiting for a checkpoint that another process writes."""

from __future__ import annotations

import time

import tensorflow as tf

checkpoints_iterator = tf.train.checkpoints_iterator


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits until the newest checkpoint of a folder is another one than `last_checkpoint`.

    Args:
        checkpoint_dir: where to look.
        last_checkpoint: the one that is known already.
        seconds_to_sleep: between two looks.
        timeout: seconds after which to give up; never if None.

    Returns:
        Its path; None if the time is up.
    """
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        found = tf.train.latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            return str(found)
        if end is not None and time.monotonic() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)
