"""`tf.contrib.predictor`: a function from arrays to arrays, over the warm `Estimator.predictor()`."""

from __future__ import annotations

from typing import Any

from lightwell.errors import UsageError
from lightwell.estimator.reopened.core import from_saved_model as reopened
from lightwell.inside.watches.predictor import Predictor


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Any = None,
    output_names: Any = None,
    tags: Any = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor over a SavedModel.

        predict_fn = from_saved_model(folder)
        predict_fn({"x": [[1.0, 2.0]]})

    Args:
        export_dir: the folder with `saved_model.pb` in it.
        signature_def_key: which signature; `serving_default` if None.
        signature_def: not offered, nor are `input_names` and `output_names`: a signature of the SavedModel says both.
        input_names: see there.
        output_names: see there.
        tags: without effect: the serving graph is taken.
        graph: without effect: the predictor has a graph of its own.
        config: without effect.
    """
    for name, given in (
        ("signature_def", signature_def),
        ("input_names", input_names),
        ("output_names", output_names),
    ):
        if given is not None:
            raise UsageError(
                f"predictor.from_saved_model: {name} is not offered; pass signature_def_key, the name of a signature "
                "of the SavedModel."
            )
    return reopened(export_dir, signature=signature_def_key).predictor()


def from_estimator(
    estimator: Any, serving_input_receiver_fn: Any, output_key: str | None = None, graph: Any = None, config: Any = None
) -> Predictor:
    """A predictor over an Estimator and its newest checkpoint; returns the predictions of its `model_fn`.

    Args:
        estimator: the Estimator.
        serving_input_receiver_fn: its inputs.
        output_key: not supported: the result has all predictions by key.
        graph: without effect.
        config: without effect.
    """
    if output_key is not None:
        raise UsageError(
            "predictor.from_estimator: output_key is not offered: the predictions of model_fn are given, by keys. "
            "Export a SavedModel, and open it with from_saved_model(folder, signature_def_key=...)."
        )
    return estimator.predictor(serving_input_receiver_fn)
