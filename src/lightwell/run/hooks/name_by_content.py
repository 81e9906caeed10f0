"""Renames a checkpoint after the step that it holds, where other processes train while it is written.

Over parameter servers a worker may take a step between the moment at which the chief reads the counter, to name a
checkpoint, and the moment at which the counter itself is saved. The saved step decides the name.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.run.checkpoints.files import files_of, link_checkpoint, name_checkpoints, remove_checkpoint
from lightwell.run.checkpoints.reader import open_checkpoint


def rename_by_content(saver: Any, directory: str, prefix: str, step: int, counter: str) -> tuple[str, int]:
    """Renames a checkpoint that was just saved after the step that it holds.

    A kill in between leaves a complete checkpoint: it has both names before it loses one.

    Args:
        saver: the saver that wrote it.
        directory: its directory.
        prefix: the checkpoint.
        step: the step in its name.
        counter: the name of the step counter in it.

    Returns:
        Its prefix, and the step.
    """
    reader = open_checkpoint(prefix)
    holds = int(reader.get_tensor(counter)) if reader.has_tensor(counter) else step
    if holds == step:
        return prefix, step
    own = f"{prefix.removesuffix(f'-{step}')}-{holds}"
    link_checkpoint(prefix, own)
    known = saver.last_checkpoints
    paths = [*(path for path in known if path not in (prefix, own)), own]
    if known:  # a saver without a limit tracks none
        saver.set_last_checkpoints_with_time([(path, _written_at(path)) for path in paths])
    name_checkpoints(directory, paths)
    remove_checkpoint(prefix)
    return own, holds


def _written_at(prefix: str) -> float:
    files = files_of(prefix)
    return float(tf.io.gfile.stat(files[-1]).mtime_nsec) / 1e9 if files else 0.0
