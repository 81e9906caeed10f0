"""The model directory: resolved, created, and checked before any work starts."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.base.safe_files import check_plain, check_writable, remove_unfinished
from lightwell.errors import ModelDirError, UsageError, reason_of
from lightwell.run.checkpoints.directory_locks import FILE_NAME as LOCK
from lightwell.run.checkpoints.index import neighbours_with_checkpoints
from lightwell.run.checkpoints.lineage import FILE_NAME as LINEAGE
from lightwell.run.config import RunConfig, default_session_config


def resolved_config(config: RunConfig | None, model_dir: Any) -> RunConfig:
    """The config of an Estimator: a copy with `model_dir` and `session_config` filled in.

    Args:
        config: the argument of the Estimator; None for the defaults.
        model_dir: the argument of the Estimator.

    Raises:
        UsageError: `config` is no `RunConfig`, or names another directory.
    """
    if config is None:
        logger.info("Using default config.")
        config = RunConfig()
    elif not isinstance(config, RunConfig):
        raise UsageError(f"config must be an instance of `RunConfig`, but provided {config!r}.")
    changes = {"model_dir": resolved_model_dir(model_dir, config)}
    if config.session_config is None:
        changes["session_config"] = default_session_config()
    return config.replace(**changes)


def resolved_model_dir(argument: Any, config: RunConfig) -> str:
    """The directory to use: the argument, else the config's, else a temporary one.

    Raises:
        UsageError: argument and config name different directories.
    """
    argument = os.fspath(argument) if argument is not None else None
    configured = os.fspath(config.model_dir) if config.model_dir is not None else None
    if argument and configured and argument != configured:
        raise UsageError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
            f"{argument!r}, in `RunConfig`: {configured!r}. Set one of them."
        )
    directory: str | None = argument or configured
    if not directory:
        directory = tempfile.mkdtemp()
        logger.warning("Using temporary folder as model directory: %s", directory)
    return directory


def ensure_writable(directory: str) -> None:
    """Creates the directory and checks that files can be written in it.

    Raises:
        ModelDirError: it cannot be created or written, or Lightwell would write through a link.
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
    """Warns that there is no trained model, and names directories nearby that have one."""
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
