"""What each replica of a model gets of the input: one batch of `input_fn` per replica and step, in order.

Takes what `input_fn` returned; gives the `Inputs` and one `Share` for each replica. A step of training takes as many
batches as there are replicas, or ends the training; where other processes must know, it says so one step before. The
last step of an evaluation takes what is left: a replica for which there is nothing is given another's batch again, and
told so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.callables import name_of
from lightwell.errors import InputFnError
from lightwell.inputs.kept import Kept
from lightwell.inputs.looking_ahead import AheadIterator
from lightwell.inputs.unpack import Inputs, unpack_element
from lightwell.keys import ModeKeys


@dataclass(frozen=True, eq=False)
class Share:
    """The batch of one replica.

    Attributes:
        features: a structure of tensors.
        labels: likewise, or None.
        is_there: a tensor that tells whether the batch is the replica's own; None where it always is.
        is_last: a tensor that tells whether no step can follow; None where nobody asks, or one always can.
    """

    features: Any
    labels: Any
    is_there: Any = None
    is_last: Any = None


def shares_of(
    result: Any, input_fn: Callable[..., Any], mode: str, kept: Kept, count: int, tells_end: bool = False
) -> tuple[Inputs, tuple[Share, ...]]:
    """Turns `input_fn`'s result into the shares of `count` replicas; must run in the graph that it belongs to.

    Args:
        result: what `input_fn` returned.
        input_fn: the function, for errors.
        mode: a `ModeKeys` value.
        kept: what the call made that outlives it.
        count: how many shares.
        tells_end: whether the last step of training must know that it is the last.

    Raises:
        InputFnError: the result is no dataset, or one of a form that holds no batch.
    """
    if not isinstance(result, tf.data.Dataset):
        raise InputFnError(
            f"input_fn {name_of(input_fn)!r} (mode {mode!r}) returned {type(result).__name__}; under a distribution "
            f"strategy it must return a tf.data.Dataset, of which each of the {count} replicas takes a batch of its "
            "own. Make one: tf.data.Dataset.from_tensor_slices((features, labels)).batch(32)."
        )
    first, iterator = unpack_element(result, input_fn, mode, kept, ahead=count if tells_end else 0)
    pairs = [(first.features, first.labels)]
    shares = _in_whole_steps(iterator, pairs, count) if mode == ModeKeys.TRAIN else _to_the_end(iterator, pairs, count)
    return dataclasses.replace(first, features=shares[0].features, labels=shares[0].labels), tuple(shares)


def _in_whole_steps(iterator: Any, pairs: list[Any], count: int) -> list[Share]:
    """No replica begins before all have a batch: what one did alone would stay done."""
    while len(pairs) < count:
        with tf.control_dependencies(_tensors(pairs[-1])):
            pairs.append(_pair(iterator.get_next(), pairs[0]))
    is_last = tf.logical_not(iterator.is_more) if isinstance(iterator, AheadIterator) else None
    if count == 1:
        ((features, labels),) = pairs
        return [Share(features, labels, is_last=is_last)]
    with tf.control_dependencies([tensor for pair in pairs for tensor in _tensors(pair)]):
        return [Share(_again(features), _again(labels), is_last=is_last) for features, labels in pairs]


def _to_the_end(iterator: Any, pairs: list[Any], count: int) -> list[Share]:
    shares = [Share(pairs[0][0], pairs[0][1])]
    last = _tensors(pairs[0])
    while len(shares) < count:
        with tf.control_dependencies(last):
            found = iterator.get_next_as_optional()
            is_there = found.has_value()
        element = tf.cond(is_there, lambda found=found: _flat(found.get_value(), pairs[0]), lambda: _tensors(pairs[0]))
        features, labels = _packed(element, pairs[0])
        shares.append(Share(features, labels, is_there))
        last = [is_there]
    return shares


def _pair(element: Any, like: Any) -> Any:
    """An element as (features, labels), in the way in which the first one was taken apart."""
    has_labels = isinstance(element, tuple | list)
    return tuple(element) if has_labels and like[1] is not None else ((element[0] if has_labels else element), None)


def _tensors(pair: Any) -> list[Any]:
    return [one for one in tf.nest.flatten(pair, expand_composites=True) if one is not None]


def _flat(element: Any, like: Any) -> list[Any]:
    return _tensors(_pair(element, like))


def _packed(tensors: Any, like: Any) -> Any:
    left = iter(tensors if isinstance(tensors, list | tuple) else [tensors])
    places = tf.nest.flatten(like, expand_composites=True)
    filled = [None if place is None else next(left) for place in places]
    return tf.nest.pack_sequence_as(like, filled, expand_composites=True)


def _again(values: Any) -> Any:
    return None if values is None else tf.nest.map_structure(tf.identity, values, expand_composites=True)
