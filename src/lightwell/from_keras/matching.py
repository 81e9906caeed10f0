"""Which feature feeds which input of a Keras model, which label belongs to which output, and the weights of rows.

Takes what `input_fn` gave; gives structures as the model takes and makes them. Knows names only, no Keras.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.reader import nearest_names
from lightwell.errors import ModelFnError, UnknownFeature

FEATURES, SAMPLE_WEIGHTS = "features", "sample_weights"


@dataclass(frozen=True)
class Slot:
    """One input or output of a model.

    Attributes:
        name: what it is called.
        also: other names that are understood, as the one that Keras 2 gave it.
    """

    name: str
    also: tuple[str, ...] = ()

    def key_in(self, given: Mapping[str, Any]) -> str | None:
        """The key under which a mapping has it."""
        return next((key for key in (self.name, *self.also) if key in given), None)


def split_features(features: Any) -> tuple[Any, Any]:
    """The features, and the sample weights if they came with them: `{"features": ..., "sample_weights": ...}`."""
    if isinstance(features, Mapping) and {FEATURES, SAMPLE_WEIGHTS} <= set(features):
        return features[FEATURES], features[SAMPLE_WEIGHTS]
    return features, None


def matched_inputs(features: Any, slots: Sequence[Slot]) -> list[Any]:
    """The features in the order of the model's inputs.

    Raises:
        UnknownFeature: a dict of features lacks an input.
        ModelFnError: their number is not that of the inputs.
    """
    return _matched(features, slots, ("features", "inputs", "input"))


def matched_labels(labels: Any, slots: Sequence[Slot]) -> list[Any]:
    """The labels in the order of the model's outputs; errors as for features."""
    return _matched(labels, slots, ("labels", "outputs", "output"))


def matched_weights(weights: Any, slots: Sequence[Slot]) -> list[Any]:
    """The sample weights in the order of the model's outputs; an output that a dict leaves out has none."""
    if isinstance(weights, Mapping):
        unknown = [key for key in weights if not any(key in (slot.name, *slot.also) for slot in slots)]
        if unknown:
            raise UnknownFeature(
                unknown[0],
                f"features[{SAMPLE_WEIGHTS!r}] has weights for {unknown[0]!r}, which is no output of the Keras model. "
                f"{nearest_names(str(unknown[0]), [slot.name for slot in slots])}",
            )
        keys = [slot.key_in(weights) for slot in slots]
        return [None if key is None else weights[key] for key in keys]
    flat = _flat(weights)
    return flat * len(slots) if len(flat) == 1 else _counted(flat, slots, (FEATURES, "outputs", "output"))


def _matched(given: Any, slots: Sequence[Slot], words: tuple[str, str, str]) -> list[Any]:
    if not isinstance(given, Mapping):
        return _counted(_flat(given), slots, words)
    keys = [slot.key_in(given) for slot in slots]
    missing = [slot.name for slot, key in zip(slots, keys, strict=True) if key is None]
    if missing:
        raise UnknownFeature(missing[0], _uncovered(given, slots, missing, words))
    return [given[key] for key in keys]


def _uncovered(given: Mapping[str, Any], slots: Sequence[Slot], missing: list[str], words: tuple[str, str, str]) -> str:
    what, kind, one = words
    names = sorted(map(str, given))
    way_out = f"Let input_fn give {what} by the names of the {kind}, or name the {one} layer as the key is called"
    if len(slots) == 1:
        way_out += f", or give {what} as one tensor"
    return (
        f"The dictionary passed into {what} does not cover requested {kind} keys defined in the keras model.\n"
        f"\tExpected keys: {sorted(slot.name for slot in slots)}\n"
        f"\t{what} keys: {names}\n"
        f"\tMissed keys: {sorted(missing)}\n"
        f"For {missing[0]!r}: {nearest_names(missing[0], names)} {way_out}."
    )


def _counted(flat: list[Any], slots: Sequence[Slot], words: tuple[str, str, str]) -> list[Any]:
    what, kind, one = words
    if len(flat) != len(slots):
        raise ModelFnError(
            f"The Keras model has {len(slots)} {kind if len(slots) != 1 else one}, "
            f"{[slot.name for slot in slots]}, but input_fn gives {len(flat)} for {what}. Give one tensor for each, "
            f"in that order, or a dict by the names of the {kind}."
        )
    return flat


def _flat(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [] if given is None else [given]


def named_outputs(outputs: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The outputs of a model by name: a dict's own keys, names that the model knows, or `output_1`, `output_2`, ..."""
    if isinstance(outputs, Mapping) and not any(tf.nest.is_nested(value) for value in outputs.values()):
        return dict(outputs)
    flat = tf.nest.flatten(outputs)
    return dict(zip(names or [f"output_{place}" for place in range(1, len(flat) + 1)], flat, strict=True))
