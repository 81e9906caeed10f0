"""`tf.contrib.learn.utils.input_fn_utils`: inputs of an exported model, as three things in a tuple."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.estimator.export.receivers import ServingInputReceiver

InputFnOps = namedtuple("InputFnOps", ("features", "labels", "default_inputs"))


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function that parses serialised examples by `feature_spec`."""

    def input_fn() -> InputFnOps:
        examples = tf.compat.v1.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        features = tf.io.parse_example(examples, dict(feature_spec))
        return InputFnOps(features, None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function that takes unparsed features, in batches of any size by default."""

    def input_fn() -> InputFnOps:
        made = {
            name: tf.compat.v1.placeholder(value.dtype, [default_batch_size, *value.shape.as_list()[1:]], name=name)
            for name, value in features.items()
        }
        return InputFnOps(made, None, made)

    return input_fn


def as_receiver_fn(serving_input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """The function that `Estimator.export_saved_model` takes, of one that may give `InputFnOps`."""

    def receiver_fn() -> Any:
        made = serving_input_fn()
        if isinstance(made, InputFnOps):
            return ServingInputReceiver(made.features, made.default_inputs)
        return made

    return receiver_fn
