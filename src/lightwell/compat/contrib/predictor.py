"""`tf.contrib.predictor`: a function from arrays to arrays, over the warm `Estimator.predictor()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.estimator.export.reading import read_saved_model
from lightwell.estimator.reopened.core import from_saved_model as reopened
from lightwell.estimator.reopened.model_fn import SavedModelFn
from lightwell.inside.watches.predictor import Predictor


class OldPredictor:
    """A function from a dict of arrays to a dict of arrays, with the tensors behind both.

    Args:
        predictor: what predicts.
        outputs: the names of the predictions; None for all.

    Attributes:
        feed_tensors: the inputs, by name.
        fetch_tensors: the predictions, by name.
        graph: the graph of both.
    """

    def __init__(self, predictor: Predictor, outputs: Sequence[str] | None = None) -> None:
        self._predictor, self._outputs = predictor, outputs
        program, feeds = predictor.program, predictor.feeds
        predictions = program.spec.predictions
        named = dict(predictions) if isinstance(predictions, Mapping) else {"output": predictions}
        self.feed_tensors: dict[str, Any] = dict(feeds) if isinstance(feeds, Mapping) else {"features": feeds}
        self.fetch_tensors: dict[str, Any] = named if outputs is None else {name: named[name] for name in outputs}
        self.graph: tf.Graph = program.graph

    def __call__(self, input_dict: Any, taps: Any = None) -> Any:
        """Predicts for one batch; `taps` are those of `Estimator.predictor()`."""
        return self._predictor(input_dict, taps, self._outputs)

    def close(self) -> None:
        """Frees the session."""
        self._predictor.close()

    def __enter__(self) -> OldPredictor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.feed_tensors), ", ".join(self.fetch_tensors)
        return f"Predictor with feed tensors {{{inputs}}} and fetch_tensors {{{outputs}}}"


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Any = None,
    output_names: Any = None,
    tags: Any = None,
    graph: Any = None,
    config: Any = None,
) -> OldPredictor:
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
    signature = SavedModelFn(read_saved_model(export_dir, "predictor.from_saved_model"), signature_def_key)
    return OldPredictor(reopened(export_dir, signature=signature_def_key).predictor(), signature.output_names())


def from_estimator(
    estimator: Any, serving_input_receiver_fn: Any, output_key: str | None = None, graph: Any = None, config: Any = None
) -> OldPredictor:
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
    return OldPredictor(estimator.predictor(serving_input_receiver_fn))
