"""Receivers: the tensors that a server feeds, and the features and labels computed from them.

Each is a named tuple, as in `tf.estimator`, so that it can be unpacked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from lightwell.errors import UsageError

# Names of single tensors.
SINGLE_FEATURE = "feature"
SINGLE_RECEIVER = "input"
SINGLE_LABEL = "label"


class _Serving(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[Any, dict[str, Any]] | None


class ServingInputReceiver(_Serving):
    """What a serving input receiver function returns: tensors that a server feeds, and the features computed from them.

    Args:
        features: a dict of tensors by name, handed to `model_fn`; a single tensor becomes `{"feature": tensor}`.
        receiver_tensors: the tensors that are fed, usually placeholders: a dict by name, or a single one, whose name is
            `"input"`. One string placeholder for serialised `tf.Example`s, which `features` are parsed from, allows
            the classification and regression signatures too.
        receiver_tensors_alternatives: further groups of tensors, by name, any of which can be fed instead: tensors on
            the way from `receiver_tensors` to `features`. Each group adds signatures `"<name>:<signature>"`.

    Raises:
        UsageError: something is missing, or is no tensor.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        features = _by_name(_required(features, "features"), "feature", SINGLE_FEATURE, (str, int))
        tensors, alternatives = _fed(receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, features, tensors, alternatives)


class TensorServingInputReceiver(_Serving):
    """A `ServingInputReceiver` for a `model_fn` whose features are a single tensor, not a dict.

    Args:
        features: one tensor, handed to `model_fn` as it is.
        receiver_tensors: as in `ServingInputReceiver`.
        receiver_tensors_alternatives: likewise.

    Raises:
        UsageError: something is missing, or is no tensor.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        _check_tensor(_required(features, "features"), "feature")
        tensors, alternatives = _fed(receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, features, tensors, alternatives)


class _Supervised(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]


class SupervisedInputReceiver(_Supervised):
    """What an input receiver function for training or evaluation returns.

    Args:
        features: a tensor, or a dict of tensors by name, handed to `model_fn`.
        labels: likewise.
        receiver_tensors: the tensors that are fed, as in `ServingInputReceiver`.

    Raises:
        UsageError: something is missing, or is no tensor.
    """

    __slots__ = ()

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        for value, what in ((features, "feature"), (labels, "label")):
            structure = _required(value, f"{what}s")
            if isinstance(structure, Mapping):
                _by_name(structure, what, "", (str, int))
            else:
                _check_tensor(structure, what)
        return super().__new__(cls, features, labels, _fed(receiver_tensors, None)[0])


def _required(value: Any, what: str) -> Any:
    if value is None:
        raise UsageError(f"{what} must be defined. Give the receiver a tensor, or a dict of tensors by name.")
    return value


def _fed(tensors: Any, alternatives: Any) -> tuple[dict[str, Any], dict[Any, dict[str, Any]] | None]:
    """The tensors that are fed and their alternatives, each a dict by name."""
    by_name = _by_name(_required(tensors, "receiver_tensors"), "receiver_tensor", SINGLE_RECEIVER, (str,))
    if alternatives is None:
        return by_name, None
    if not isinstance(alternatives, Mapping):
        raise UsageError(
            f"receiver_tensors_alternatives must be a dict: {alternatives!r}. Expected groups of tensors by name, such "
            'as {"image": {"image": tensor}}.'
        )
    what = "receiver_tensors_alternative"
    return by_name, {
        name: _by_name(_required(group, "receiver_tensors_alternatives"), what, SINGLE_RECEIVER, (str,))
        for name, group in alternatives.items()
    }


def _by_name(structure: Any, what: str, single: str, keys: tuple[type, ...]) -> dict[Any, Any]:
    tensors = dict(structure) if isinstance(structure, Mapping) else {single: structure}
    for name, tensor in tensors.items():
        if not isinstance(name, keys):
            expected = "strings or ints" if int in keys else "strings"
            raise UsageError(f"{what} keys must be {expected}: {name!r}. Name each tensor in the receiver.")
        _check_tensor(tensor, f"{what} {name}")
    return tensors


def _check_tensor(value: Any, what: str) -> None:
    if isinstance(value, tf.Variable) or not tf.is_tensor(value):
        raise UsageError(
            f"{what} must be a Tensor, SparseTensor, or RaggedTensor. Got {type(value).__name__} {value!r}; make "
            "placeholders inside the receiver function, or let build_raw_serving_input_receiver_fn make them."
        )
