"""Which feature feeds which input of a Keras model, which label belongs to which output, and the weights of rows.

It works on names only, and imports no Keras.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import ModelFnError, UnknownFeature
from lightwell.run.checkpoints.reader import nearest_names

FEATURES, SAMPLE_WEIGHTS = "features", "sample_weights"


@dataclass(frozen=True)
class Slot:
    """One input or output of a model.

    Attributes:
        name: its name.
        also: other names that are accepted, such as the one of Keras 2.
    """

    name: str
    also: tuple[str, ...] = ()

    def key_in(self, values: Mapping[str, Any]) -> str | None:
        """The key under which a mapping has it."""
        return next((key for key in (self.name, *self.also) if key in values), None)


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


def _matched(values: Any, slots: Sequence[Slot], words: tuple[str, str, str]) -> list[Any]:
    if not isinstance(values, Mapping):
        return _counted(_flat(values), slots, words)
    keys = [slot.key_in(values) for slot in slots]
    missing = [slot.name for slot, key in zip(slots, keys, strict=True) if key is None]
    if missing:
        raise UnknownFeature(missing[0], _uncovered(values, slots, missing, words))
    return [values[key] for key in keys]


def _uncovered(
    values: Mapping[str, Any], slots: Sequence[Slot], missing: list[str], words: tuple[str, str, str]
) -> str:
    what, kind, one = words
    names = sorted(map(str, values))
    advice = f"Let input_fn give {what} by the names of the {kind}, or name the {one} layer as the key is called"
    if len(slots) == 1:
        advice += f", or give {what} as one tensor"
    return (
        f"The dictionary passed into {what} does not cover requested {kind} keys defined in the keras model.\n"
        f"\tExpected keys: {sorted(slot.name for slot in slots)}\n"
        f"\t{what} keys: {names}\n"
        f"\tMissed keys: {sorted(missing)}\n"
        f"For {missing[0]!r}: {nearest_names(missing[0], names)} {advice}."
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


def _flat(values: Any) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else [] if values is None else [values]


def named_outputs(outputs: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The outputs of a model by name: a dict's own keys, names that the model knows, or `output_1`, `output_2`, ..."""
    if isinstance(outputs, Mapping) and not any(tf.nest.is_nested(value) for value in outputs.values()):
        return dict(outputs)
    flat = tf.nest.flatten(outputs)
    return dict(zip(names or [f"output_{place}" for place in range(1, len(flat) + 1)], flat, strict=True))
