"""The work of `lightwell export`: finds the SavedModel or writes one from a checkpoint, converts it and checks it."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP
from lightwell.cli.estimators import named_estimator
from lightwell.cli.object_reference import is_object_reference, load_object
from lightwell.errors import ModelDirError, UsageError
from lightwell.estimator.export.conversions.convert import SAVED_MODEL, Check, convert
from lightwell.estimator.export.conversions.report import Conversion
from lightwell.estimator.export.conversions.rows import read_rows
from lightwell.estimator.export.reading import is_saved_model, newest_below
from lightwell.estimator.export_run import check_on
from lightwell.estimator.reopened.core import from_saved_model
from lightwell.run.checkpoints.index import neighbours_with_checkpoints, newest_usable
from lightwell.run.checkpoints.reader import open_checkpoint


@dataclass(frozen=True)
class Result:
    """A conversion, and remarks on it."""

    conversion: Conversion
    notes: tuple[str, ...] = ()


def export(arguments: argparse.Namespace) -> Result:
    """Export a model.

    Raises:
        LightwellError: it cannot be done; the text says why.
    """
    if not tf.io.gfile.isdir(arguments.model_dir):
        raise _no_model(arguments.model_dir, "does not exist")
    if arguments.model is not None:
        return Result(_of_checkpoint(arguments))
    folder = _saved_model(arguments)
    notes = _age(arguments.model_dir, folder)
    path = arguments.out or _default_path(arguments.model_dir, folder, arguments.to)
    check = _check(arguments.rows, lambda: from_saved_model(folder, signature=arguments.signature))
    conversion = convert(
        folder, arguments.to, path, check, signature=arguments.signature, select_tf_ops=arguments.select_tf_ops
    )
    return Result(conversion, notes)


def _of_checkpoint(arguments: argparse.Namespace) -> Conversion:
    estimator = named_estimator(arguments.model, "--model", arguments.model_dir, arguments.params)
    check = _check(arguments.rows, lambda: estimator)
    return estimator.export(
        arguments.to,
        arguments.out,
        check,
        checkpoint_path=arguments.checkpoint,
        signature=arguments.signature,
        select_tf_ops=arguments.select_tf_ops,
    )


def _check(rows: str | None, estimator: Any) -> Check:
    if rows is None:
        return Check()
    if is_object_reference(rows):
        return check_on(estimator(), load_object(rows, "--rows"))
    return Check(read_rows(rows), f"rows of {rows}")


def _saved_model(arguments: argparse.Namespace) -> str:
    """The SavedModel to convert."""
    directory = arguments.model_dir
    folder = directory if is_saved_model(directory) else newest_below(directory)
    if folder is None:
        if newest_usable(directory) is None:
            raise _no_model(directory, "holds neither a SavedModel nor a checkpoint")
        raise UsageError(
            f"{directory} holds weights and no SavedModel, and weights alone are no model: its code is needed. Name "
            "it, as in --model train:model_fn; or let the program call estimator.export_saved_model."
        )
    if arguments.to == SAVED_MODEL:
        raise UsageError(
            f"{folder} is a SavedModel already. To export the newest checkpoint, name the model's code: --model "
            "train:model_fn."
        )
    return folder


def _age(model_dir: str, folder: str) -> tuple[str, ...]:
    """A remark if a checkpoint is newer than the SavedModel."""
    newest = newest_usable(model_dir)
    exported, now = _step(os.path.join(folder, "variables", "variables")), None if newest is None else _step(newest)
    if exported is None or now is None or now <= exported:
        return ()
    return (f"note: {folder} is of step {exported}; {newest} is newer. --model train:model_fn exports that.",)


def _step(prefix: str) -> int | None:
    if not tf.io.gfile.exists(f"{prefix}.index"):
        return None
    reader = open_checkpoint(prefix)
    return int(reader.get_tensor(GLOBAL_STEP)) if reader.has_tensor(GLOBAL_STEP) else None


def _default_path(model_dir: str, folder: str, to: str) -> str:
    if os.path.realpath(model_dir) == os.path.realpath(folder):
        return f"{folder.rstrip('/')}.{to}"  # not in its folder, whose files are the SavedModel
    return os.path.join(model_dir, "export", to, f"model.{to}")


def _no_model(path: str, problem: str) -> ModelDirError:
    near = neighbours_with_checkpoints(path)
    hint = f" Directories nearby that have checkpoints: {', '.join(near)}." if near else ""
    return ModelDirError(f"{path} {problem}; expected the model_dir of a training, or a SavedModel.{hint}")
