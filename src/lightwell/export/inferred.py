"""A receiver nobody wrote: placeholders for the features as the last training saw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lightwell.export.receivers import SINGLE_RECEIVER
from lightwell.sight.fed_inputs import FedInputs, flat_names, specs_from_description
from lightwell.sight.kept_description import read_description


class InferredReceiver(NamedTuple):
    """Features in the structure of training's, each fed by its name."""

    features: Any
    receiver_tensors: Mapping[str, Any]


def inferred_receiver_fn(model_dir: str, doing: str) -> Callable[[], InferredReceiver]:
    """A function that makes a raw receiver, the batch dimension left open.

    Raises:
        UsageError: the model's directory does not tell the structure of the input.
        InputFnError: it holds sparse or ragged tensors.
    """
    instead = f"est.{doing}(dir, tf.estimator.export.build_raw_serving_input_receiver_fn(features))"
    specs = specs_from_description(read_description(model_dir), doing, instead)

    def receiver_fn() -> InferredReceiver:
        source = FedInputs(specs, None, None)
        features = source.input_fn()
        named = {name or SINGLE_RECEIVER: tensor for name, tensor in flat_names(source.feeds).items()}
        return InferredReceiver(features, named)

    return receiver_fn
