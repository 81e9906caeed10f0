"""Values for variables from checkpoints and from arrays, as `tf.contrib.framework` brought them.

The functions that these return take a session: `Scaffold(init_fn=...)` and `SessionRunHook`s call them with one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.compat.contrib.framework.model_variables import get_unique_variable, get_variable_full_name
from lightwell.errors import UsageError

v1 = tf.compat.v1


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns arrays to variables, and what to feed when it is run.

        assign, feed = assign_from_values({"conv1/weights": array})
        session.run(assign, feed)

    Args:
        var_names_to_values: the full names of variables, and their values.
    """
    feed: dict[Any, Any] = {}
    assignments = []
    for name, value in var_names_to_values.items():
        variable = get_unique_variable(name)
        array = np.asarray(value)
        fed = v1.placeholder(variable.dtype.base_dtype, name=f"placeholder/{variable.op.name}", shape=array.shape)
        assignments.append(v1.assign(variable, fed).op)
        feed[fed] = array.reshape(variable.shape.as_list())
    return tf.group(*assignments), feed


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that assigns arrays to variables."""
    assign, feed = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign, feed)


def assign_from_checkpoint(model_path: str, var_list: Any, ignore_missing_vars: bool = False) -> tuple[Any, Any]:
    """An operation that assigns the values of a checkpoint to variables, and what to feed when it is run.

    Args:
        model_path: the checkpoint.
        var_list: variables; or a mapping from names in the checkpoint to variables, or to lists of the pieces of one.
        ignore_missing_vars: whether to leave variables alone that the checkpoint does not have.

    Raises:
        UsageError: the checkpoint does not have a variable, or has it in another shape.
    """
    reader = tf.train.load_checkpoint(model_path)
    feed: dict[Any, Any] = {}
    assignments = []
    for name, variables in _by_name(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                logger.warning("Variable %s missing in checkpoint %s", name, model_path)
                continue
            raise UsageError(
                f"assign_from_checkpoint: Checkpoint is missing variable [{name}]: {model_path}. Leave it out of "
                "var_list, or give ignore_missing_vars=True."
            )
        value = reader.get_tensor(name)
        for variable in variables:
            fed = v1.placeholder(
                variable.dtype.base_dtype, shape=variable.shape, name=f"placeholder/{variable.op.name}"
            )
            assignments.append(v1.assign(variable, fed).op)
            feed[fed] = _part(variable, value, name, model_path)
    return tf.group(*assignments), feed


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Callable[[Any], Any] | None:
    """A function of a session that restores variables from a checkpoint.

        init_fn = assign_from_checkpoint_fn("resnet.ckpt", get_variables_to_restore(exclude=["logits"]))
        scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: init_fn(session))

    Args:
        model_path: the checkpoint.
        var_list: variables, or a mapping from names in the checkpoint to variables.
        ignore_missing_vars: whether to leave variables alone that the checkpoint does not have.
        reshape_variables: whether a variable may have another shape than in the checkpoint, of as many numbers.

    Returns:
        The function; None if no variable is left to restore.

    Raises:
        UsageError: there are no variables.
    """
    wanted = dict(var_list) if isinstance(var_list, Mapping) else {one.op.name: one for one in var_list}
    if not wanted:
        raise UsageError("assign_from_checkpoint_fn: var_list cannot be empty.")
    if ignore_missing_vars:
        reader = tf.train.load_checkpoint(model_path)
        for name in [name for name in wanted if not reader.has_tensor(name)]:
            logger.warning("Variable %s missing in checkpoint %s", name, model_path)
            del wanted[name]
    if not wanted:
        logger.warning("No Variables to restore")
        return None
    saver = v1.train.Saver(wanted, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def _by_name(var_list: Any) -> dict[str, list[Any]]:
    if isinstance(var_list, Mapping):
        return {name: list(given) if isinstance(given, list | tuple) else [given] for name, given in var_list.items()}
    found: dict[str, list[Any]] = {}
    for variable in var_list:
        found.setdefault(get_variable_full_name(variable), []).append(variable)
    return found


def _part(variable: Any, value: Any, name: str, model_path: str) -> Any:
    """A variable's own part of a value in a checkpoint."""
    info = variable._get_save_slice_info() if hasattr(variable, "_get_save_slice_info") else None
    if info:
        places = zip(info.var_offset, info.var_shape, strict=True)
        value = value[tuple(slice(start, start + size) for start, size in places)]
    if tuple(variable.shape.as_list()) != value.shape and variable.shape.num_elements() != value.size:
        raise UsageError(
            f"assign_from_checkpoint: Total size of new array must be unchanged for {name} lh_shape: "
            f"[{list(value.shape)}], rh_shape: [{variable.shape.as_list()}], in {model_path}."
        )
    return value.reshape(variable.shape.as_list())
