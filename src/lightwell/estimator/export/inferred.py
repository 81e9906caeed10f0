"""The default receiver: placeholders for the features of the last training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lightwell.estimator.export.receivers import SINGLE_RECEIVER
from lightwell.inside.paths.stored_description import read_description
from lightwell.inside.watches.fed_inputs import FedInputs, flat_names, specs_from_description


class InferredReceiver(NamedTuple):
    """Features in the structure of training's, each fed by its name."""

    features: Any
    receiver_tensors: Mapping[str, Any]


def inferred_receiver_fn(model_dir: str, doing: str) -> Callable[[], InferredReceiver]:
    """A function that creates a raw receiver, with an unknown batch dimension.

    Raises:
        UsageError: the model's directory has no description of the input.
        InputFnError: it holds sparse or ragged tensors.
    """
    alternative = f"est.{doing}(dir, tf.estimator.export.build_raw_serving_input_receiver_fn(features))"
    specs = specs_from_description(read_description(model_dir), doing, alternative)

    def receiver_fn() -> InferredReceiver:
        source = FedInputs(specs, None, None)
        features = source.input_fn()
        tensors = {name or SINGLE_RECEIVER: tensor for name, tensor in flat_names(source.feeds).items()}
        return InferredReceiver(features, tensors)

    return receiver_fn
