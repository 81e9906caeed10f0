"""The mark in `model_dir` that a training is finished, for processes that wait for more checkpoints.

Owns the file `training_finished.json`: one JSON object with `global_step` (of the last checkpoint), `stopped` (why, as
a sentence) and `time` (seconds since 1970). `train_and_evaluate` writes it last; a training that starts in the same
directory removes it. It is written atomically. While `train_and_evaluate` runs, there is an empty
`training_unfinished` instead: if the next one sees it, the last was interrupted. In a cluster, an evaluator requests
the end of the training by `training_stop_asked`, which holds its reason.
"""

from __future__ import annotations

import errno
import json
import os
import time
from dataclasses import asdict, dataclass

import tensorflow as tf

from lightwell.base import checked_json as checked
from lightwell.base.safe_files import remove_file, replace_file
from lightwell.errors import ModelDirError

NAME = "training_finished.json"
_UNFINISHED = "training_unfinished"
_STOP_REQUEST = "training_stop_asked"


@dataclass(frozen=True)
class Finished:
    """What the mark says.

    Attributes:
        global_step: the step of the last checkpoint.
        stopped: why the training ended, as a sentence.
        time: when it ended, in seconds since 1970.
    """

    global_step: int
    stopped: str
    time: float


def mark_begun(model_dir: str) -> None:
    """Marks that evaluations and exports are still to come.

    Raises:
        OSError, tf.errors.OpError: it cannot be written.
    """
    replace_file(os.path.join(model_dir, _UNFINISHED), "")


def was_cut_short(model_dir: str) -> bool:
    """Whether a `train_and_evaluate` began here and did not finish."""
    return bool(tf.io.gfile.exists(os.path.join(model_dir, _UNFINISHED)))


def mark_finished(model_dir: str, global_step: int, stopped: str) -> None:
    """Writes the mark.

    Raises:
        OSError, tf.errors.OpError: it cannot be written.
    """
    replace_file(_path(model_dir), json.dumps(asdict(Finished(global_step, stopped, time.time()))) + "\n")
    remove_file(os.path.join(model_dir, _UNFINISHED))


def remove_mark(model_dir: str) -> None:
    """Removes the mark and a request to stop, if there are any: training continues."""
    for path in (_path(model_dir), os.path.join(model_dir, _STOP_REQUEST)):
        remove_file(path)


def write_stop_request(model_dir: str, reason: str) -> None:
    """Requests the end of the training in this directory.

    Raises:
        OSError, tf.errors.OpError: it cannot be written.
    """
    replace_file(os.path.join(model_dir, _STOP_REQUEST), reason)


def read_stop_request(model_dir: str) -> str:
    """The reason of a request to stop; empty if there is none."""
    try:
        with tf.io.gfile.GFile(os.path.join(model_dir, _STOP_REQUEST)) as file:
            return str(file.read())
    except tf.errors.OpError:
        return ""


def read_finished(model_dir: str) -> Finished | None:
    """What the mark says; None while there is none.

    Raises:
        ModelDirError: it is damaged.
    """
    try:
        with tf.io.gfile.GFile(_path(model_dir)) as file:
            mark = checked.parse(file.read())
        return Finished(
            checked.field(mark, "global_step", checked.number),
            checked.field(mark, "stopped", checked.text),
            checked.field(mark, "time", checked.real),
        )
    except tf.errors.NotFoundError:
        return None
    except ValueError as error:
        raise ModelDirError(
            errno.EIO,
            f"{_path(model_dir)}, which says that a training is finished, is damaged ({error}). Remove it if the "
            "training goes on; else write it anew by training to the end once more.",
        ) from error


def _path(model_dir: str) -> str:
    return os.path.join(model_dir, NAME)
