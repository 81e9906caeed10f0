"""The logits of canned models for a `model_fn` of your own: `dnn_logit_fn_builder`, `linear_logit_fn_builder`.

Also `call_logit_fn`, which calls such a function with what it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.callables import arguments_of, name_of
from lightwell.errors import ModelFnError, UsageError
from lightwell.estimator.canned.columns import column_list, dense_column_list
from lightwell.estimator.canned.dnn_logits import DNNLogits, checked_units
from lightwell.estimator.canned.linear_logits import LinearLogits, checked_combiner


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Callable[..., Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Any]:
    """A function of `(features, mode)` that gives the logits of a deep model.

    Args:
        units: how many logits.
        hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm: see `DNNClassifier`.

    Raises:
        UsageError: `units` is no whole number.
    """
    where = "dnn_logit_fn_builder"
    _check_units(units, where)
    logits = DNNLogits(
        where,
        checked_units(hidden_units, where),
        dense_column_list(feature_columns, where),
        activation_fn,
        dropout,
        batch_norm,
        input_layer_partitioner,
        "v1",
    )

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        return logits(features, mode, units)

    return dnn_logit_fn


def linear_logit_fn_builder(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> Callable[..., Any]:
    """A function of `(features)` that gives the logits of a linear model.

    Args:
        units: how many logits.
        feature_columns, sparse_combiner: see `LinearClassifier`.

    Raises:
        UsageError: `units` is no whole number.
    """
    where = "linear_logit_fn_builder"
    _check_units(units, where)
    combiner = checked_combiner(sparse_combiner, where)
    logits = LinearLogits(where, column_list(feature_columns, where), combiner, "v1")

    def linear_logit_fn(features: Any) -> Any:
        return logits(features, units)

    return linear_logit_fn


def call_logit_fn(logit_fn: Callable[..., Any], features: Any, mode: str, params: Any, config: Any) -> Any:
    """What a logit function gives, called with those of the other arguments that it takes.

    Args:
        logit_fn: a function of any of `features`, `mode`, `params`, `config`.
        features, mode, params, config: what a `model_fn` gets.

    Raises:
        ModelFnError: it gave neither a tensor nor a dict of tensors by name.
    """
    arguments = {"features": features, "mode": mode, "params": params, "config": config}
    takes = arguments_of(logit_fn)
    logits = logit_fn(**{name: value for name, value in arguments.items() if takes.accepts(name)})
    if tf.is_tensor(logits):
        return logits
    if isinstance(logits, Mapping) and all(isinstance(k, str) and tf.is_tensor(v) for k, v in logits.items()):
        return logits
    raise ModelFnError(
        "logit_fn should return a Tensor or a dictionary mapping strings to Tensors. logit_fn returned: "
        f"{logits!r} ({type(logits).__name__}), by {name_of(logit_fn)}."
    )


def _check_units(units: Any, where: str) -> None:
    if isinstance(units, bool) or not isinstance(units, int):
        raise UsageError(f"{where}: units must be an int. Given type: {type(units)}, {units!r}.")
