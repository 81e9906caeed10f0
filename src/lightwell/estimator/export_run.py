"""The run of `Estimator.export`: writes a SavedModel, TFLite or ONNX file, and compares it with the Estimator on rows.

It uses the public verbs of the Estimator.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lightwell.base.callables import name_of
from lightwell.errors import PathError
from lightwell.estimator.export.conversions.convert import SAVED_MODEL, Check, check_form, compared, convert
from lightwell.estimator.export.conversions.report import Conversion
from lightwell.estimator.export.conversions.rows import MAX_ROWS
from lightwell.estimator.export.inferred import inferred_receiver_fn

if TYPE_CHECKING:
    from lightwell.estimator.core import Estimator

_FEATURES = "features"


def export(
    estimator: Estimator,
    to: str,
    path: Any,
    check: Check,
    receiver_fn: Callable[[], Any] | None,
    *,
    checkpoint_path: Any,
    signature: str | None,
    select_tf_ops: bool,
) -> Conversion:
    """Exports a model; see `Estimator.export`."""
    check_form(to)
    base = os.path.join(estimator.model_dir, "export", to)
    receiver_fn = receiver_fn or inferred_receiver_fn(estimator.model_dir, "export")
    source = str(checkpoint_path or estimator.latest_checkpoint())
    if to == SAVED_MODEL:
        folder = estimator.export_saved_model(path or base, receiver_fn, checkpoint_path=checkpoint_path)
        with estimator.predictor(receiver_fn, checkpoint_path) as predictor:
            return compared(os.fsdecode(folder), source, signature, check, predictor)
    file = os.fspath(path) if path else os.path.join(base, f"model.{to}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = estimator.export_saved_model(scratch, receiver_fn, checkpoint_path=checkpoint_path)
        return convert(
            os.fsdecode(folder), to, file, check, source=source, signature=signature, select_tf_ops=select_tf_ops
        )


def check_on(estimator: Estimator, rows: Any) -> Check:
    """The rows to compare on: arrays as they are; from an `input_fn`, the features of its first rows."""
    if isinstance(rows, Check):
        return rows
    if not callable(rows):
        return Check(rows)
    try:
        features = _first_batches(estimator, rows, f"{_FEATURES}/*")
        arrays: Any = {name.removeprefix(f"{_FEATURES}/"): array for name, array in features.items()}
    except PathError:  # the features are one tensor, not a dict
        arrays = _first_batches(estimator, rows, _FEATURES)[_FEATURES]
    return Check(arrays, f"rows of {name_of(rows)}")


def _first_batches(estimator: Estimator, input_fn: Callable[..., Any], path: str) -> dict[str, Any]:
    import numpy as np

    batches: list[dict[str, Any]] = []
    count = 0
    for batch in estimator.predict(input_fn, predict_keys=[], taps=[path], yield_single_examples=False):
        batches.append({name: np.asarray(value) for name, value in batch.items()})
        count += max((len(value) for value in batches[-1].values()), default=0)
        if count >= MAX_ROWS:
            break
    return {name: np.concatenate([batch[name] for batch in batches]) for name in (batches[0] if batches else ())}
