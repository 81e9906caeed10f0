"""The directory in which a model lives: chosen, made, checked before work is put into it."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.index import neighbours_with_checkpoints
from lightwell.checkpoints.lineage import FILE_NAME as LINEAGE
from lightwell.checkpoints.turns import FILE_NAME as LOCK
from lightwell.config import RunConfig, default_session_config
from lightwell.errors import ModelDirError, UsageError, reason_of
from lightwell.log import logger
from lightwell.own_files import check_plain, check_writable, remove_unfinished


def settled_config(config: RunConfig | None, model_dir: Any) -> RunConfig:
    """The config that an Estimator runs with: a copy that names the directory and has session settings.

    Args:
        config: what the user gave; None for the defaults.
        model_dir: the Estimator's own argument.

    Raises:
        UsageError: `config` is none, or names another directory.
    """
    if config is None:
        logger.info("Using default config.")
        config = RunConfig()
    elif not isinstance(config, RunConfig):
        raise UsageError(f"config must be an instance of `RunConfig`, but provided {config!r}.")
    changes = {"model_dir": chosen_model_dir(model_dir, config)}
    if config.session_config is None:
        changes["session_config"] = default_session_config()
    return config.replace(**changes)


def chosen_model_dir(given: Any, config: RunConfig) -> str:
    """The directory to use: the argument, else the config's, else a temporary one.

    Raises:
        UsageError: argument and config name different directories.
    """
    given = os.fspath(given) if given is not None else None
    configured = os.fspath(config.model_dir) if config.model_dir is not None else None
    if given and configured and given != configured:
        raise UsageError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
            f"{given!r}, in `RunConfig`: {configured!r}. Set one of them."
        )
    chosen = given or configured
    if not chosen:
        chosen = tempfile.mkdtemp()
        logger.warning("Using temporary folder as model directory: %s", chosen)
    return chosen


def ensure_writable(directory: str) -> None:
    """Makes the directory and checks that files can be written in it, before any work is done.

    Raises:
        ModelDirError: it cannot be made or written, or a link stands where Lightwell would write through it.
        UsageError: checkpoints written there could not be found again.
    """
    if re.search(r"\[.*\]", directory):
        raise UsageError(
            f"model_dir {directory!r} has square brackets in it, which TensorFlow takes for a pattern: it would write "
            "checkpoints there and never find them again. Expected a path without them; rename the directory."
        )
    try:
        tf.io.gfile.makedirs(directory)
        check_writable(directory)
        remove_unfinished(directory)
    except (tf.errors.OpError, OSError) as error:
        raise ModelDirError(
            errno.EACCES,
            f"model_dir {directory!r} cannot be written: {reason_of(error)}. Nothing has been "
            "trained. Choose another model_dir, or mend its rights or space.",
        ) from error
    for name in (LINEAGE, LOCK):
        check_plain(os.path.join(directory, name))


def warn_untrained(directory: str, doing: str) -> None:
    """Says, loudly, that there is no trained model here, and where one might be meant."""
    lines = [
        f"Could not find trained model in model_dir: {directory}, running initialization to {doing}. "
        "The results are those of RANDOM initial weights."
    ]
    if not tf.io.gfile.exists(directory):
        lines.append("The directory does not exist; is the path right?")
    neighbours = neighbours_with_checkpoints(directory)
    if neighbours:
        lines.append(f"Directories nearby that do hold checkpoints: {', '.join(neighbours)}")
    logger.warning(" ".join(lines))
