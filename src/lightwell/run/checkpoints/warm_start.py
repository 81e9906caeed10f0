"""Starts a model from another one's weights.

Owns the settings (`WarmStartSettings`), the choice of variables, and the report of those loaded, skipped and
mismatched. Works in the graph being built: it changes initial values, so that initialisation itself loads them.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP
from lightwell.base.log import logger
from lightwell.base.printable import printable_lines
from lightwell.errors import CheckpointError, UsageError
from lightwell.foreign import private_tf
from lightwell.run.checkpoints.index import NoCheckpoint, checked_path, newest_usable
from lightwell.run.checkpoints.reader import open_checkpoint

VocabInfo = tf.compat.v1.train.VocabInfo


class _Settings(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: Mapping[str, Any] = {}
    var_name_to_prev_var_name: Mapping[str, str] = {}


class WarmStartSettings(_Settings):
    """Which variables to start from which checkpoint.

    Args:
        ckpt_to_initialize_from: a checkpoint, a directory whose newest one is taken, or the folder of a SavedModel.
        vars_to_warm_start: which variables:

            * a regular expression, matched from the start of a name, over the trainable variables (`.*`: all of them);
            * a list of regular expressions, over all variables, optimizer state and moving averages included;
            * a list of variables;
            * None: only those of `var_name_to_vocab_info`.
        var_name_to_vocab_info: variable name to `VocabInfo`, for embeddings whose vocabulary has changed.
        var_name_to_prev_var_name: variable name to its name in the checkpoint, where that differs.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise UsageError("WarmStartSettings: `ckpt_to_initialize_from` MUST be set in WarmStartSettings.")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def checked_settings(warm_start_from: Any) -> WarmStartSettings | None:
    """Settings from the user's argument: None, a path, or settings."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if isinstance(warm_start_from, str | bytes) or hasattr(warm_start_from, "__fspath__"):
        return WarmStartSettings(ckpt_to_initialize_from=os.fsdecode(warm_start_from))
    raise UsageError(
        f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from).__name__} "
        f"{warm_start_from!r}."
    )


@dataclass(frozen=True)
class WarmStartReport:
    """What a warm start did, by variable name."""

    checkpoint: str
    loaded: tuple[str, ...]
    missing: tuple[str, ...]
    mismatched: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"Warm-started {len(self.loaded)} variables from {self.checkpoint}."]
        lines += [f"  loaded      {name}" for name in self.loaded]
        lines += [f"  not found   {name} (not in the checkpoint; keeps its initial value)" for name in self.missing]
        lines += [
            f"  mismatched  {name} (shape {list(ours)} here, {list(theirs)} there; keeps its initial value)"
            for name, ours, theirs in self.mismatched
        ]
        lines += [f"  left out    {name} (in the checkpoint, but not asked for)" for name in self.left_out]
        return printable_lines("\n".join(lines))


def warm_start(settings: WarmStartSettings) -> WarmStartReport:
    """Makes the chosen variables of the default graph start from the checkpoint's values.

    Raises:
        NoCheckpoint: there is no such checkpoint.
        CheckpointError: nothing in it fits the chosen variables.
        UsageError: a renaming or a vocabulary names a variable that is not warm-started.
    """
    logger.info("Warm-starting with WarmStartSettings: %s", settings)
    checkpoint = _resolve_checkpoint(settings.ckpt_to_initialize_from)
    reader = open_checkpoint(checkpoint)
    stored = {name: tuple(shape) for name, shape in reader.get_variable_to_shape_map().items()}
    chosen = _chosen_variables(settings)
    _check_all_used(settings, chosen)
    loaded, missing, mismatched = [], [], []
    for name, parts in chosen.items():
        old_name = settings.var_name_to_prev_var_name.get(name, name)
        if old_name not in stored and name in settings.var_name_to_prev_var_name:
            raise CheckpointError(
                f"WarmStartSettings: var_name_to_prev_var_name[{name!r}]: Tensor {old_name} is not found in "
                f"{checkpoint} checkpoint, which has {dict(stored)}. Name what {name!r} was called when it was trained."
            )
        if old_name not in stored:
            missing.append(name)
        elif name not in settings.var_name_to_vocab_info and not _fits(parts, stored[old_name]):
            mismatched.append((name, tuple(parts[0].shape), stored[old_name]))
        else:
            loaded.append(name)
    report = WarmStartReport(checkpoint, tuple(loaded), tuple(missing), tuple(mismatched), _left_out(chosen, stored))
    if not loaded and settings.vars_to_warm_start is not None:
        raise CheckpointError(
            f"Nothing to warm-start: nothing that vars_to_warm_start={settings.vars_to_warm_start!r} asks for is in "
            "the checkpoint with the same shape. A pattern is matched from the start of a name: 'dense/', "
            f"'.*kernel'.\n{report}"
        )
    _apply(settings, checkpoint, {name: chosen[name] for name in loaded})
    (logger.warning if missing or mismatched else logger.info)("%s", report)
    return report


def _resolve_checkpoint(path: str) -> str:
    if not tf.io.gfile.isdir(path):
        return checked_path(path, "warm_start_from")
    of_saved_model = os.path.join(path, "variables", "variables")
    if tf.io.gfile.exists(f"{of_saved_model}.index"):
        return of_saved_model
    newest = newest_usable(path)
    if newest is None:
        raise NoCheckpoint(
            f"warm_start_from: the directory {path} has no checkpoint. Expected the model_dir of a trained model, "
            "one checkpoint in it, or the folder of a SavedModel."
        )
    return newest


def _chosen_variables(settings: WarmStartSettings) -> dict[str, list[Any]]:
    """The chosen variables, by name; the parts of a partitioned one are grouped."""
    want = settings.vars_to_warm_start
    keys = tf.compat.v1.GraphKeys
    every = tf.compat.v1.get_collection(keys.GLOBAL_VARIABLES)
    if want is None:
        chosen = []
    elif isinstance(want, str):
        chosen = tf.compat.v1.get_collection(keys.TRAINABLE_VARIABLES, scope=want)
    elif isinstance(want, Sequence) and all(isinstance(one, str) for one in want):
        patterns = [re.compile(one) for one in want]
        chosen = [variable for variable in every if any(pattern.match(_name(variable)) for pattern in patterns)]
    elif isinstance(want, Sequence):
        chosen = [part for one in want for part in (one if isinstance(one, list | tuple) else [one])]
    else:
        raise UsageError(
            f"WarmStartSettings: `vars_to_warm_start must be a `list` or `str`. Given type is {type(want)}: {want!r}. "
            "Expected a regular expression, a list of them, a list of variables, or None."
        )
    chosen += [v for v in every if _name(v) in settings.var_name_to_vocab_info and not any(v is c for c in chosen)]
    grouped: dict[str, list[Any]] = {}
    for variable in chosen:
        grouped.setdefault(_name(variable), []).append(variable)
    return grouped


def _apply(settings: WarmStartSettings, checkpoint: str, loaded: Mapping[str, list[Any]]) -> None:
    # TensorFlow's own function loads, and remaps vocabularies; it gets exactly the variables to load.
    tf.compat.v1.train.warm_start(
        checkpoint,
        vars_to_warm_start=[part for parts in loaded.values() for part in parts],
        var_name_to_vocab_info={k: v for k, v in settings.var_name_to_vocab_info.items() if k in loaded},
        var_name_to_prev_var_name={k: v for k, v in settings.var_name_to_prev_var_name.items() if k in loaded},
    )


def _check_all_used(settings: WarmStartSettings, chosen: Mapping[str, Any]) -> None:
    for field in ("var_name_to_prev_var_name", "var_name_to_vocab_info"):
        unused = sorted(set(getattr(settings, field)) - set(chosen))
        if unused:
            raise UsageError(
                f"WarmStartSettings: You provided the following variables in {field} that were not used: {unused}. "
                f"Perhaps you misspelled them? Those to warm-start are: {sorted(chosen)}."
            )


def _left_out(chosen: Mapping[str, Any], stored: Mapping[str, Any]) -> tuple[str, ...]:
    """Variables of this model that the checkpoint has and were not chosen, such as moving averages."""
    every = {_name(variable) for variable in tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)}
    return tuple(sorted(name for name in every if name in stored and name not in chosen and name != GLOBAL_STEP))


def _name(variable: Any) -> str:
    """A variable's name in checkpoints; for a part of a partitioned variable, that of the whole."""
    return re.sub(r"/part_\d+$", "", private_tf.variable_name(variable))


def _fits(parts: Sequence[Any], stored: tuple[int, ...]) -> bool:
    """Whether a variable has the shape of the stored value; for a partitioned one, the total size is compared."""
    if len(parts) == 1:
        return tuple(parts[0].shape) == stored
    return sum(part.shape.num_elements() for part in parts) == math.prod(stored)
