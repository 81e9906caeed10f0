"""`tf.contrib.learn.ExportStrategy`: what an experiment exports, and how."""

from __future__ import annotations

import inspect
import os
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.base.safe_files import is_folder, remove_tree
from lightwell.compat.contrib.learn.estimators.base import BaseEstimator
from lightwell.compat.contrib.learn.input_fn_utils import as_receiver_fn


class ExportStrategy(namedtuple("ExportStrategy", ("name", "export_fn", "strip_default_attrs"), defaults=(None,))):
    """A name, and a function that exports an Estimator to a folder."""

    __slots__ = ()

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any = None, eval_result: Any = None) -> Any:
        """Exports; the function gets what its arguments ask for."""
        asked = inspect.signature(self.export_fn).parameters
        offered = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        given = {name: value for name, value in offered.items() if name in asked and value is not None}
        return self.export_fn(estimator, export_path, **given)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """An `ExportStrategy` called `Servo` that writes SavedModels.

    Args:
        serving_input_fn: returns a `ServingInputReceiver` or `InputFnOps`.
        default_output_alternative_key: which output alternative of an Estimator of `tf.contrib.learn` is served by
            default; without effect for others, whose `export_outputs` say it.
        assets_extra: further files of the SavedModel.
        as_text: whether its graph is written as text.
        exports_to_keep: the number of exports to keep; all if None.
        strip_default_attrs: without effect.
    """

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None) -> Any:
        given = {"assets_extra": assets_extra, "as_text": as_text, "checkpoint_path": checkpoint_path}
        if isinstance(estimator, BaseEstimator):
            made = estimator.export_savedmodel(
                export_dir_base, serving_input_fn, default_output_alternative_key, **given
            )
        else:
            made = estimator.export_saved_model(export_dir_base, as_receiver_fn(serving_input_fn), **given)
        keep_newest(export_dir_base, exports_to_keep)
        return made

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


def keep_newest(folder: Any, count: int | None) -> None:
    """Removes the older ones of numbered folders."""
    if count is None:
        return
    numbered = sorted(
        (int(name.rstrip("/")), name) for name in tf.io.gfile.listdir(folder) if name.rstrip("/").isdigit()
    )
    own = [path for _, name in numbered if is_folder(path := os.path.join(folder, name.rstrip("/")))]
    for path in own[:-count] if count else own:
        remove_tree(path)
