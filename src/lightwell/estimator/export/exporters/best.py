"""`BestExporter`: an export after each evaluation that is better than all before, also those of earlier runs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.callables import arguments_of, name_of
from lightwell.base.keys import GLOBAL_STEP, LOSS
from lightwell.base.log import logger
from lightwell.errors import UsageError, WrongType
from lightwell.estimator.export.exporters.best_state import BestState, read_state, state_file, write_state
from lightwell.estimator.export.exporters.saved_model import SavedModelExporter
from lightwell.estimator.export.exporters.versions import check_exports_to_keep, delete_all_but_newest, exports_in
from lightwell.run import events

_COMPARE_ARGUMENTS = ("best_eval_result", "current_eval_result")


def loss_smaller(best_eval_result: Mapping[str, Any], current_eval_result: Mapping[str, Any]) -> bool:
    """Whether the current result has a smaller loss than the best so far.

    Raises:
        UsageError: one of them has no loss.
    """
    for name, result in zip(_COMPARE_ARGUMENTS, (best_eval_result, current_eval_result), strict=True):
        if not result or LOSS not in result:
            raise UsageError(
                f"BestExporter: {name} cannot be empty or no loss is found in it; it has {sorted(result or {})}. Pass "
                "a compare_fn that compares by another metric."
            )
    best, current = best_eval_result[LOSS], current_eval_result[LOSS]
    return bool(best > current) or (
        math.isnan(best) and not math.isnan(current)
    )  # otherwise a NaN in the first evaluation would stay the best


class BestExporter(SavedModelExporter):
    """Exports the model after an evaluation that is better than the best so far.

    The best result is stored next to the exports, so that a restarted run goes on from it.

    Args:
        name: the folder of its exports, below `model_dir/export`.
        serving_input_receiver_fn: returns a `ServingInputReceiver`: what a server feeds, and its features.
        event_file_pattern: event files of evaluations, as a glob below `model_dir`. The best result is read from
            them if there are exports without a stored result, as `tf.estimator` leaves them. None: no result is read.
        compare_fn: a function of `best_eval_result` and `current_eval_result`, two dicts of metrics, that says whether
            the current one is better. Default: a smaller loss.
        assets_extra: files to export with the model: name in `assets.extra/` to the path of the file.
        as_text: whether to write the SavedModel as text.
        exports_to_keep: how many of the newest exports to keep; None for all. Other folders are not touched.

    Raises:
        UsageError: `compare_fn` does not take the two results, or `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = loss_smaller,
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        _check_compare_fn(compare_fn)
        check_exports_to_keep("BestExporter", exports_to_keep)
        self._compare_fn = compare_fn
        self._event_file_pattern = event_file_pattern
        self._exports_to_keep = exports_to_keep
        self._paths_without_exports: set[str] = set()  # export paths without a folder that counts as an export

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: str | None,
        eval_result: Mapping[str, Any] | None,
        is_the_final_export: bool,
    ) -> Any:
        """Exports if this is the best result so far, or the first; see `Exporter.export`."""
        current = dict(eval_result or {})
        state = self._state(estimator, export_path, current)
        if state.best is not None and not self._is_better(state.best, current, export_path):
            return None
        logger.info("Performing best model export.")
        tf.io.gfile.makedirs(export_path)
        write_state(state.beginning(current, export_path), export_path)
        path = super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
        write_state(BestState(current), export_path)
        if not exports_in(export_path):  # an Estimator that writes another format, or to another path
            self._paths_without_exports.add(str(export_path))
        delete_all_but_newest(export_path, self._exports_to_keep)
        return path

    def _state(self, estimator: Any, export_path: Any, current: Mapping[str, Any]) -> BestState:
        """The best result so far; none if its export was deleted, so that a server has a model to load."""
        if not exports_in(export_path) and str(export_path) not in self._paths_without_exports:
            return BestState()
        state = read_state(export_path)
        if state is not None:
            return state.settled(export_path)
        return BestState(self._best_of_events(estimator, current))

    def _best_of_events(self, estimator: Any, current: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The best of the earlier evaluations in event files; those without all current metrics do not count."""
        if not self._event_file_pattern:
            return None
        logger.info("Loading best metric from event files.")
        files = tf.io.gfile.glob(os.path.join(_escaped(estimator.model_dir), self._event_file_pattern))
        numbers = {name for name, value in current.items() if name != GLOBAL_STEP and _is_number(value)}
        best: Mapping[str, Any] | None = None
        for step, result in events.metrics_in(files).items():
            # The current evaluation is in the event files already, and must not be compared with itself.
            if step == current.get(GLOBAL_STEP) or not result.keys() >= numbers or _is_same(result, current, numbers):
                continue
            if best is None or self._compare_fn(best_eval_result=best, current_eval_result=result):
                best = result
        return best

    def _is_better(self, best: Mapping[str, Any], current: Mapping[str, Any], export_path: Any) -> bool:
        try:
            return bool(self._compare_fn(best_eval_result=best, current_eval_result=current))
        except Exception:
            logger.error(
                "BestExporter: compare_fn failed on best_eval_result=%s, which is kept in %s, and "
                "current_eval_result=%s. Where the metrics have changed, delete that file to begin anew.",
                dict(best),
                state_file(export_path),
                dict(current),
            )
            raise


def _check_compare_fn(compare_fn: Any) -> None:
    expected = f"Expected a function ({', '.join(_COMPARE_ARGUMENTS)}) that says whether the current result is better"
    if compare_fn is None:
        raise UsageError(f"BestExporter: `compare_fn` must not be None. {expected}.")
    if not callable(compare_fn):
        raise WrongType(
            f"BestExporter: unsupported callable: compare_fn must be a function, got {type(compare_fn).__name__} "
            f"{compare_fn!r}. {expected}."
        )
    takes, name = arguments_of(compare_fn), name_of(compare_fn)
    for argument in _COMPARE_ARGUMENTS:
        if not takes.accepts(argument):
            raise UsageError(
                f"BestExporter: compare_fn ({name}) must include {argument} argument; it takes {list(takes.names)}. "
                f"{expected}: they are given by name."
            )
    unknown = sorted(set(takes.names) - set(_COMPARE_ARGUMENTS) - {"self"})
    if unknown:
        raise UsageError(
            f"BestExporter: compare_fn ({name}) has following not expected args: {unknown}. {expected}; bind others "
            "with functools.partial."
        )


def _is_number(value: Any) -> bool:
    return np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf"


def _is_same(result: Mapping[str, float], current: Mapping[str, Any], numbers: set[str]) -> bool:
    """Whether a result read from events, which hold single precision, is the current one."""
    if GLOBAL_STEP in current or not numbers:
        return False
    return all(_equal(np.float32(result[name]), np.float32(current[name])) for name in numbers)


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) or (math.isnan(one) and math.isnan(other))


def _escaped(directory: str) -> str:
    """A directory with the special characters of globs escaped."""
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in directory)
