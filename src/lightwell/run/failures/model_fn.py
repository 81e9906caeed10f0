"""Better texts for exceptions of a `model_fn`: an unknown feature, no features or labels at all, a Keras model that is
trained inside.

The new exception has the same built-in type. Whatever else user code raises goes through unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from lightwell.base.keys import ModeKeys
from lightwell.errors import InputFnError, LightwellError, ModelFnError, UnknownFeature, reason_of
from lightwell.run.failures.expression import values_in_failed_expression
from lightwell.run.inputs.unpack import Inputs

_OF_KERAS = (f"{os.sep}keras{os.sep}", f"{os.sep}tf_keras{os.sep}")
_LOOPS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a `model_fn`.

    Attributes:
        model_fn: the function's name.
        mode: a `ModeKeys` value.
        giver: the source of features and labels: `input_fn`, or the receiver function of an export.
        giver_name: its name.
        inputs: what it returned.
        takes_labels: whether the function takes labels.
    """

    model_fn: str
    mode: str
    giver: str
    giver_name: str
    inputs: Inputs
    takes_labels: bool


def explained_model_fn_error(error: BaseException, call: Call) -> LightwellError | None:
    """A better exception for what `model_fn` raised, with the user's frames; None if there is nothing to add.

    Its `__cause__` is what it shall be raised from.
    """
    frames = list(_frames(error))
    better = _unknown_feature(error, frames, call) or _keras_loop(error, frames, call.model_fn)
    if better is None:
        better = _without_input(error, call)
        if better is not None:
            better.__cause__ = error
    # The first frame is that of the function which called model_fn, and will raise this.
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    return None if better is None else better.with_traceback(trace)


def _without_input(error: BaseException, call: Call) -> LightwellError | None:
    """The error for missing features, or missing labels in a mode that has some."""
    if not isinstance(error, TypeError | ValueError | AttributeError) or "None" not in str(error):
        return None  # an error from a missing input mentions None
    failed = f"model_fn {call.model_fn!r} failed: {type(error).__name__}: {reason_of(error)}."
    if call.inputs.features is None:
        return InputFnError(
            f"{call.giver} {call.giver_name!r} (mode {call.mode!r}) returned nothing for features; expected a "
            f"tf.data.Dataset, features, or a (features, labels) pair. Is a `return` missing? {failed}"
        )
    if call.inputs.labels is None and call.takes_labels and call.mode != ModeKeys.PREDICT:
        return InputFnError(
            f"{call.giver} {call.giver_name!r} gave no labels in mode {call.mode!r}, and {failed} Return a (features, "
            f"labels) pair from {call.giver}, or let model_fn do without labels."
        )
    return None


def _frames(error: BaseException) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _unknown_feature(error: BaseException, frames: list[FrameType], call: Call) -> LightwellError | None:
    """The error for a lookup in the features or the labels with a key that is not among them."""
    if type(error) is not KeyError or len(error.args) != 1 or not frames:
        return None
    key, at_hand = error.args[0], list(values_in_failed_expression(error))
    candidates = [
        (what, mapping)
        for what, mapping in (("features", call.inputs.features), ("labels", call.inputs.labels))
        if isinstance(mapping, Mapping) and key not in mapping and any(_is_of(value, mapping) for value in at_hand)
    ]
    if not candidates:
        return None
    keys = " and ".join(f"{what} with {', '.join(sorted(map(repr, mapping)))}" for what, mapping in candidates)
    return UnknownFeature(key, f"model_fn {call.model_fn!r}: there is no key {key!r}; {call.giver} gives {keys}.")


def _is_of(value: Any, mapping: Mapping[Any, Any]) -> bool:
    """Whether a value is this mapping, or a copy or a part of it."""
    if value is mapping:
        return True
    return type(value) is dict and bool(value) and all(mapping.get(key) is part for key, part in value.items())


def _keras_loop(error: BaseException, frames: list[FrameType], name: str) -> LightwellError | None:
    """The error for a method of a Keras model that runs a loop of its own."""
    method = next((method for frame in frames if (method := _method_of_keras(frame)) in _LOOPS), None)
    if method is None:
        return None
    return ModelFnError(
        f"model_fn {name!r} calls {method}() of a Keras model, which runs a loop over data of its own "
        f"({type(error).__name__}: {error}). model_fn builds a graph, and the Estimator runs the loop: call the model "
        "instead, outputs = model(features), make the loss from outputs and labels, and return "
        "EstimatorSpec(mode, loss=loss, train_op=...). A model that shall be fitted on data at hand is fitted before "
        "the Estimator is made."
    )


def _method_of_keras(frame: FrameType) -> str:
    """The name of a function of Keras; of the one that is wrapped, as Keras hides its frames behind a wrapper."""
    if not any(part in frame.f_code.co_filename for part in _OF_KERAS):
        return ""
    wrapped = frame.f_locals.get("fn") if "fn" in frame.f_code.co_freevars else None
    return str(getattr(wrapped, "__name__", frame.f_code.co_name))
