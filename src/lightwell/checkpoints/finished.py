"""The mark in `model_dir` that says that a training is finished, for whoever waits for more checkpoints.

Owns the file `training_finished.json`: one JSON object with `global_step` (of the last checkpoint), `stopped` (why, as
a sentence) and `time` (seconds since 1970). `train_and_evaluate` leaves it as the last thing it does; a training that
starts in the same directory takes it away. It is there whole or not at all. While `train_and_evaluate` is at work, an
empty `training_unfinished` stands in its place: found there by the next one, it says that the last was cut short.
In a cluster, an evaluator that has seen enough asks the chief to end by `training_stop_asked`, which holds its reason.
"""

from __future__ import annotations

import errno
import json
import os
import time
from dataclasses import asdict, dataclass

import tensorflow as tf

from lightwell import checked_json as checked
from lightwell.errors import ModelDirError
from lightwell.own_files import remove_file, replace_file

NAME = "training_finished.json"
_UNFINISHED = "training_unfinished"
_STOP_ASKED = "training_stop_asked"


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
    """Says that evaluations and exports are to come.

    Raises:
        OSError, tf.errors.OpError: it cannot be written.
    """
    replace_file(os.path.join(model_dir, _UNFINISHED), "")


def was_cut_short(model_dir: str) -> bool:
    """Whether a `train_and_evaluate` began here and never came to its end."""
    return bool(tf.io.gfile.exists(os.path.join(model_dir, _UNFINISHED)))


def mark_finished(model_dir: str, global_step: int, stopped: str) -> None:
    """Writes the mark.

    Raises:
        OSError, tf.errors.OpError: it cannot be written.
    """
    replace_file(_path(model_dir), json.dumps(asdict(Finished(global_step, stopped, time.time()))) + "\n")
    remove_file(os.path.join(model_dir, _UNFINISHED))


def remove_mark(model_dir: str) -> None:
    """Takes the mark away, where there is one, and a wish that it be over: training goes on."""
    for path in (_path(model_dir), os.path.join(model_dir, _STOP_ASKED)):
        remove_file(path)


def ask_to_stop(model_dir: str, reason: str) -> None:
    """Asks whoever trains here to end.

    Raises:
        OSError, tf.errors.OpError: it cannot be written.
    """
    replace_file(os.path.join(model_dir, _STOP_ASKED), reason)


def stop_asked(model_dir: str) -> str:
    """Why somebody asked for the end; empty if nobody did."""
    try:
        with tf.io.gfile.GFile(os.path.join(model_dir, _STOP_ASKED)) as file:
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
            told = checked.parsed(file.read())
        return Finished(
            checked.field(told, "global_step", checked.number),
            checked.field(told, "stopped", checked.text),
            checked.field(told, "time", checked.real),
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
