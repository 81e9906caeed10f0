"""Builders of receiver functions, from a parsing spec, from example tensors, or from an `input_fn`.

A receiver function runs in the graph of the exported model, and creates its placeholders there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import UsageError, WrongKind
from lightwell.estimator.export.receivers import (
    SINGLE_LABEL,
    SINGLE_RECEIVER,
    ServingInputReceiver,
    SupervisedInputReceiver,
)
from lightwell.run.config import RunConfig
from lightwell.run.engine.build import Recipe, draft

ReceiverFn = Callable[[], Any]


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> ReceiverFn:
    """A receiver that is fed serialised `tf.Example`s, by the name `"examples"`, and parses them.

    Args:
        feature_spec: name to `tf.io.FixedLenFeature`, `VarLenFeature` and the like, as `tf.io.parse_example` takes it;
            `tf.feature_column.make_parse_example_spec(columns)` makes it of feature columns.
        default_batch_size: how many examples there are in a batch; None leaves it open, which is what servers want.

    Returns:
        A function without arguments that returns a `ServingInputReceiver`.

    Raises:
        UsageError: `feature_spec` is None.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        if feature_spec is None:
            raise UsageError(
                "build_parsing_serving_input_receiver_fn: Argument `features` cannot be None: feature_spec must tell "
                "how each feature is read out of an example, got None. "
                "tf.feature_column.make_parse_example_spec(columns) makes one of feature columns."
            )
        serialized = tf.compat.v1.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        features = tf.io.parse_example(serialized, dict(feature_spec))
        return ServingInputReceiver(features, {"examples": serialized})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> ReceiverFn:
    """A receiver that is fed the features themselves.

    Args:
        features: name to something of the feature's type and shape, batch dimension first: a tensor (a graph's or an
            eager one), or beyond `tf.estimator` a `tf.TensorSpec` or an array. Its values do not matter.
        default_batch_size: how many rows a batch has; None leaves it open, which is what servers want.

    Returns:
        A function without arguments that returns a `ServingInputReceiver`.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        tensors = _placeholders("build_raw_serving_input_receiver_fn: features", features, default_batch_size)
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> ReceiverFn:
    """A receiver for training and evaluation graphs that is fed features and labels themselves.

    Args:
        features: one of what `build_raw_serving_input_receiver_fn` takes, or a dict of them by name. A single one is
            fed by the name `"input"`.
        labels: likewise; a single one is fed by the name `"label"`.
        default_batch_size: how many rows a batch has; None leaves it open.

    Returns:
        A function without arguments that returns a `SupervisedInputReceiver`.

    Raises:
        UsageError: features and labels share a name.
    """
    shared = set(_as_dict("", features)).intersection(_as_dict("", labels))
    if isinstance(features, Mapping) and isinstance(labels, Mapping) and shared:
        raise UsageError(
            f"Features and labels must have distinct keys. Found overlapping keys: {shared}. Both are fed by name: "
            "rename one of them."
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        where = "build_raw_supervised_input_receiver_fn"
        fed_features = _placeholders(f"{where}: features", features, default_batch_size, SINGLE_RECEIVER)
        fed_labels = _placeholders(f"{where}: labels", labels, default_batch_size, SINGLE_LABEL)
        receiver_tensors = {**_as_dict(SINGLE_RECEIVER, fed_features), **_as_dict(SINGLE_LABEL, fed_labels)}
        return SupervisedInputReceiver(fed_features, fed_labels, receiver_tensors)

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(input_fn: Callable[..., Any], **input_fn_args: Any) -> ReceiverFn:
    """A receiver for training and evaluation graphs, whose tensors are like those that an `input_fn` gives.

    Args:
        input_fn: gives features and labels, as `Estimator.train` takes them; only types and shapes matter.
        **input_fn_args: handed to `input_fn`.

    Returns:
        A function without arguments that returns a `SupervisedInputReceiver`.
    """
    bound_fn = functools.partial(input_fn, **input_fn_args)
    inputs = draft(Recipe(_no_model, bound_fn, ModeKeys.EVAL, None, RunConfig())).inputs
    if inputs.labels is None:
        raise UsageError(
            "build_supervised_input_receiver_fn_from_input_fn: input_fn gave no labels, and training and evaluation "
            "graphs are fed with them. Return a (features, labels) pair."
        )
    return build_raw_supervised_input_receiver_fn(inputs.features, inputs.labels)


def _no_model(features: Any) -> NoReturn:
    raise NotImplementedError


def _as_dict(single: str, structure: Any) -> dict[str, Any]:
    return dict(structure) if isinstance(structure, Mapping) else {single: structure}


def _placeholders(where: str, examples: Any, batch_size: int | None, single: str | None = None) -> Any:
    """Placeholders like the examples, with another batch dimension; a dict of them, or one where `single` names it."""
    if isinstance(examples, Mapping):
        return {name: _placeholder(where, name, example, batch_size) for name, example in examples.items()}
    if single is None:
        raise WrongKind(f"{where} must be a dict of tensors by name, got {type(examples).__name__} {examples!r}.")
    return _placeholder(where, single, examples, batch_size)


def _placeholder(where: str, name: str, example: Any, batch_size: int | None) -> Any:
    if not hasattr(example, "dtype") or not hasattr(example, "shape"):
        raise WrongKind(
            f"{where}: {name!r} must be a tensor, a tf.TensorSpec or an array, got {type(example).__name__} "
            f"{example!r}. It tells type and shape, batch dimension first; its values do not matter."
        )
    shape = tf.TensorShape(example.shape)
    sizes = None if shape.rank is None else [batch_size, *shape.as_list()[1:]]
    return tf.compat.v1.placeholder(tf.as_dtype(example.dtype), sizes, name=_op_name(example))


def _op_name(example: Any) -> str | None:
    """The name of a graph's tensor, which its placeholder takes over; an eager tensor has none."""
    try:
        return str(example.op.name)
    except AttributeError:
        return getattr(example, "name", None) if isinstance(example, tf.TensorSpec) else None
