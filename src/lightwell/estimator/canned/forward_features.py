"""`forward_features`: adds features to the predictions, so that a key identifies each prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import ModelFnError, UnknownFeature, UsageError, WrongType
from lightwell.estimator.core import Estimator
from lightwell.model.outputs import PredictOutput
from lightwell.model.spec import EstimatorSpec


def forward_features(
    estimator: Estimator,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """A copy of an Estimator with features among its predictions, in `predict` and in exports.

        est = lw.forward_features(lw.DNNClassifier([64], columns), "id")
        next(est.predict(input_fn))["id"]

    Args:
        estimator: the Estimator; both share a `model_dir`.
        keys: which features; all of them if None.
        sparse_default_values: for features that are sparse: key to the value that stands where there is none.

    Raises:
        WrongType: `keys` are no names.
        UsageError: `estimator` is no Estimator, or a default value is for a feature that is not forwarded.
    """
    if not isinstance(estimator, Estimator):
        raise UsageError(f"forward_features: estimator must be an Estimator, got {estimator!r}.")
    forwarded_keys = _checked_keys(keys)
    defaults = dict(sparse_default_values or {})
    left = sorted(key for key in defaults if forwarded_keys is not None and key not in forwarded_keys)
    if left:
        raise UsageError(
            f"forward_features: sparse_default_values has {left}, which keys={list(forwarded_keys or ())} does not "
            "forward. Add them to keys, or take them out."
        )

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.PREDICT:
            return spec
        forwarded = _forwarded(features, forwarded_keys, defaults)
        outputs = {name: _with(output, forwarded) for name, output in (spec.export_outputs or {}).items()}
        return spec._replace(predictions=_joined(spec.predictions, forwarded), export_outputs=outputs or None)

    return Estimator(model_fn, estimator.model_dir, estimator.config)


def _checked_keys(keys: Any) -> tuple[str, ...] | None:
    if keys is None:
        return None
    listed = (keys,) if isinstance(keys, str) else keys
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(key, str) for key in listed):
        raise WrongType(f"forward_features: keys should be either a string or a list of strings. Given: {keys!r}.")
    return tuple(listed)


def _forwarded(features: Any, keys: tuple[str, ...] | None, defaults: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(features, Mapping):
        raise ModelFnError(
            f"forward_features: features should be a dictionary of `Tensor`s. Given type: {type(features)}."
        )
    forwarded = {}
    for key in keys or sorted(features):
        if key not in features:
            raise UnknownFeature(
                key, f"forward_features: Feature {key!r} is not in features: {sorted(features)}. Correct keys=..."
            )
        feature = features[key]
        if isinstance(feature, tf.SparseTensor):
            if key not in defaults:
                raise UsageError(
                    f"forward_features: Feature {key!r} is a SparseTensor, and predictions are dense: pass "
                    f"sparse_default_values={{{key!r}: value}} with what stands where it has none."
                )
            feature = tf.sparse.to_dense(feature, default_value=defaults[key])
        forwarded[key] = feature
    return forwarded


def _joined(predictions: Any, forwarded: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(predictions, Mapping):
        raise ModelFnError(f"forward_features: predictions should be a dict. Given type: {type(predictions)}.")
    both = sorted(set(predictions).intersection(forwarded))
    if both:
        raise UsageError(
            f"forward_features: {both} are keys of the predictions already, which are {sorted(map(str, predictions))}. "
            "Name the features that you need in keys=, or rename them in input_fn."
        )
    return {**predictions, **forwarded}


def _with(output: Any, forwarded: Mapping[str, Any]) -> Any:
    """An export output with the features, if it has predictions by name."""
    return PredictOutput({**output.outputs, **forwarded}) if isinstance(output, PredictOutput) else output
