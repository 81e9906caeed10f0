"""Export strategies of `tf.contrib.learn`: by parsed columns, of the best model, and several in one; their folders."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from lightwell.compat.contrib.layers.column_parsing import create_feature_spec_for_parsing
from lightwell.compat.contrib.learn.export_strategy import ExportStrategy, keep_newest, make_export_strategy
from lightwell.compat.contrib.learn.input_fn_utils import build_parsing_serving_input_fn
from lightwell.errors import UsageError

__all__ = [
    "BestModelSelector",
    "extend_export_strategy",
    "garbage_collect_exports",
    "get_most_recent_export",
    "get_temp_export_dir",
    "get_timestamped_export_dir",
    "make_best_model_export_strategy",
    "make_export_strategy",
    "make_parsing_export_strategy",
]
_STAMP_DIGITS = 10


class Export(NamedTuple):
    """An export: its folder, and the seconds since 1970 that name it."""

    path: str
    export_version: int


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """The path of a new folder, named by the seconds since 1970; it does not exist yet."""
    while True:
        path = os.path.join(os.fsdecode(export_dir_base), str(int(time.time())))
        if not tf.io.gfile.exists(path):
            return os.fsencode(path)
        time.sleep(1)


def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """The path `temp-<name>` beside a folder."""
    folder, name = os.path.split(os.fsdecode(timestamped_export_dir))
    return os.fsencode(os.path.join(folder, f"temp-{name}"))


def get_most_recent_export(export_dir_base: Any) -> Export | None:
    """The newest export of a folder; None if there is none."""
    folder = os.fsdecode(export_dir_base)
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(folder)]
    versions = [int(name) for name in names if name.isdigit() and len(name) == _STAMP_DIGITS]
    return Export(os.path.join(folder, str(max(versions))), max(versions)) if versions else None


def garbage_collect_exports(export_dir_base: Any, exports_to_keep: int | None) -> None:
    """Removes all exports of a folder but the newest.

    Args:
        export_dir_base: the folder.
        exports_to_keep: how many stay; all if None.
    """
    keep_newest(os.fsdecode(export_dir_base), exports_to_keep)


def make_parsing_export_strategy(
    feature_columns: Sequence[Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy whose exports parse serialised examples by columns.

    Args:
        feature_columns: of the model.
        default_output_alternative_key: which of several outputs is served by default.
        assets_extra: further files.
        as_text: whether the graph is written as text.
        exports_to_keep: the number of exports to keep; all if None.
        target_core: without effect: Estimators of both kinds are taken.
        strip_default_attrs: without effect.
    """
    spec = create_feature_spec_for_parsing(feature_columns)
    return make_export_strategy(
        build_parsing_serving_input_fn(spec),
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )


class BestModelSelector:
    """Remembers the best evaluation.

    Args:
        event_file_pattern: without effect: it knows the evaluations of this process.
        compare_fn: `(best result, new result) -> whether the new one is better`; the lower loss if None.
    """

    def __init__(
        self, event_file_pattern: str | None = None, compare_fn: Callable[[Any, Any], bool] | None = None
    ) -> None:
        del event_file_pattern
        self._better = compare_fn or _loss_is_lower
        self._best: Mapping[str, Any] | None = None

    def update(self, checkpoint_path: Any, eval_result: Mapping[str, Any] | None) -> tuple[Any, Any]:
        """The checkpoint and its result if they are the best so far; else `(None, the best result)`."""
        if not eval_result or (self._best is not None and not self._better(self._best, eval_result)):
            return None, self._best
        self._best = dict(eval_result)
        return checkpoint_path, self._best


def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any],
    exports_to_keep: int | None = 1,
    model_dir: Any = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[[Any, Any], bool] | None = None,
    default_output_alternative_key: str | None = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy that exports after an evaluation that was better than all before.

    Args:
        serving_input_fn: returns `InputFnOps`.
        exports_to_keep: the number of exports to keep; all if None.
        model_dir: without effect.
        event_file_pattern: without effect.
        compare_fn: see `BestModelSelector`.
        default_output_alternative_key: which of several outputs is served by default.
        strip_default_attrs: without effect.
    """
    del model_dir
    inner = make_export_strategy(
        serving_input_fn, default_output_alternative_key, None, False, exports_to_keep, strip_default_attrs
    )
    selector = BestModelSelector(event_file_pattern, compare_fn)

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None, eval_result: Any = None) -> Any:
        best, _ = selector.update(checkpoint_path or tf.train.latest_checkpoint(estimator.model_dir), eval_result)
        return inner.export(estimator, export_dir_base, best) if best is not None else ""

    return ExportStrategy("best_model", export_fn, strip_default_attrs)


def extend_export_strategy(
    base_export_strategy: ExportStrategy, post_export_fn: Callable[[Any, Any], Any], post_export_name: str
) -> ExportStrategy:
    """A strategy that works on the exports of another.

    Args:
        base_export_strategy: exports first.
        post_export_fn: from the path of that export and of the folder for its own to the path of the result; equal
            paths mean that it worked in place.
        post_export_name: the name of the new strategy.
    """

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None) -> Any:
        folder, _ = os.path.split(os.path.normpath(os.fsdecode(export_dir_base)))
        base = os.path.join(folder, base_export_strategy.name)
        first = base_export_strategy.export(estimator, base, checkpoint_path)
        own = os.path.join(os.fsdecode(export_dir_base), os.path.basename(os.fsdecode(first)))
        made = post_export_fn(first, own)
        if not os.path.realpath(os.fsdecode(made)).startswith(os.path.realpath(os.fsdecode(export_dir_base))):
            raise UsageError(
                f"extend_export_strategy: post_export_fn must return a sub-directory of {export_dir_base}, got {made}."
            )
        return made

    return ExportStrategy(post_export_name, export_fn)


def _loss_is_lower(best: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    for result in (best, new):
        if "loss" not in result:
            raise UsageError(f"make_best_model_export_strategy: loss is missing from the evaluation {sorted(result)}.")
    return bool(new["loss"] < best["loss"])
