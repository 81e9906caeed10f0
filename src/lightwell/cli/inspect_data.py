"""Reads a model on disk for `lightwell inspect`: its checkpoints and description, as plain data.

Builds no graph. Reads one value at a time, so that the model may be larger than memory.
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import tensorflow as tf

from lightwell.cli.inspect_checkpoint import StoredCheckpoint
from lightwell.errors import ModelDirError, PathError
from lightwell.inside.paths.catalogue import SECTIONS, section_of
from lightwell.inside.paths.describe import Description, LayerInfo, ValueInfo, from_variables
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.on_disk import OnDisk, StoredValue
from lightwell.inside.paths.optimizer_state import split_names
from lightwell.inside.paths.reductions import Stats
from lightwell.inside.paths.sections.base import Section
from lightwell.inside.paths.sections.layers import LAYERS
from lightwell.inside.paths.sections.variables import SLOTS, WEIGHTS
from lightwell.inside.paths.stored_description import read_description
from lightwell.run.checkpoints.index import checked_path, neighbours_with_checkpoints, newest_usable, step_of

_TAKE_BARE_NAMES = (LAYERS, WEIGHTS, SLOTS)  # on disk, `dense/kernel` can only be a weight
_IN_ORDER = (*_TAKE_BARE_NAMES, *(section for section in SECTIONS if section not in _TAKE_BARE_NAMES))


@dataclass(frozen=True)
class CheckpointInfo:
    """A checkpoint: its path without ending, its step, when it was written (seconds since 1970), its size in bytes."""

    path: str
    step: int | None
    written: float
    size: int
    is_newest: bool

    @property
    def name(self) -> str:
        """Its path without the directory."""
        return os.path.basename(self.path)


@dataclass(frozen=True)
class Weight:
    """A variable in a checkpoint, with its statistics; None where it holds no numbers."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool | None
    stats: Stats | None


@dataclass(frozen=True)
class Detail:
    """One path in detail.

    Attributes:
        path: the path.
        layer: the layer, if it is one, or the one a weight belongs to.
        value: shape and type, for a feature, a label or a prediction.
        weights: the weight itself, or those of the layer.
        history: name of a weight to (step, statistics), one for each checkpoint that has it, oldest first.
    """

    path: str
    layer: LayerInfo | None
    value: ValueInfo | None
    weights: tuple[Weight, ...]
    history: dict[str, tuple[tuple[int | None, Stats], ...]]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        history = {
            name: [{"step": step, **stats.as_dict()} for step, stats in points] for name, points in self.history.items()
        }
        return _plain(
            {
                "path": self.path,
                "layer": None if self.layer is None else asdict(self.layer),
                "value": None if self.value is None else asdict(self.value),
                "weights": [asdict(weight) for weight in self.weights],
                "history": history,
            }
        )


@dataclass(frozen=True)
class StoredModel:
    """A model on disk.

    Attributes:
        directory: where it lives.
        description: its layers and values.
        checkpoint: the checkpoint to show; None if there is none yet.
        checkpoints: all of them, oldest first.
    """

    directory: str
    description: Description
    checkpoint: str | None
    checkpoints: tuple[CheckpointInfo, ...]

    @functools.cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """The names of weights and of optimizer state in the checkpoint."""
        if self._stored is None:
            return [weight.name for weight in self.description.weights], []
        return split_names(self._stored.shapes)

    def weights(self) -> list[Weight]:
        """All weights with their statistics."""
        return [] if self._stored is None else [self._weight(self._stored, name) for name in self.names[0]]

    @functools.cached_property
    def stored_values(self) -> dict[Section, dict[str, StoredValue]]:
        """All that can be shown: what each section has on disk, by path."""
        on_disk = OnDisk(self.description, *self.names)
        return {section: {one.path: one for one in section.stored_values(on_disk)} for section in _IN_ORDER}

    def paths(self) -> list[str]:
        """All paths that can be shown."""
        return [path for known in self.stored_values.values() for path in known]

    def select(self, words: Sequence[str]) -> list[str]:
        """The paths that the user's words match, each once.

        Raises:
            PathError: a word matches nothing; the text names the nearest paths.
        """
        return list(dict.fromkeys(path for word in words for path in self._matching_paths(word)))

    def detail(self, path: str) -> Detail:
        """One path in detail."""
        stored = next(known[path] for known in self.stored_values.values() if path in known)
        return self._detail(path, stored.layer, stored.value, list(stored.variables))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return _plain(
            {
                "model_dir": self.directory,
                "checkpoint": self.checkpoint,
                "description": self.description.to_dict(),
                "weights": [asdict(weight) for weight in self.weights()],
                "checkpoints": [asdict(checkpoint) for checkpoint in self.checkpoints],
            }
        )

    def _matching_paths(self, word: str) -> list[str]:
        named = section_of(word)
        if named is not None and not named.is_stored:
            raise PathError(
                f"{word!r} exists only while the model runs. Read it with lightwell.Watch({word!r}, ...) or taps=[...]."
            )
        for section in _TAKE_BARE_NAMES if named is None else (named,):
            matches = section.resolve(word if named else f"{section}/{word}", self.stored_values[section])
            if matches:
                return [one.path for one in matches]
        known = self.paths()
        close = nearest_paths(word, known, globs=True)
        hint = (
            f"Did you mean {', '.join(close)}?"
            if close
            else f"It has {', '.join(known[:10])}{' …' if len(known) > 10 else '.'}"
        )
        raise PathError(f"{word!r} names nothing in {self.directory}. {hint}")

    def _detail(self, path: str, layer: LayerInfo | None, value: ValueInfo | None, names: list[str]) -> Detail:
        if self._stored is None:
            return Detail(path, layer, value, (), {})
        there = [name for name in names if name in self._stored.shapes]
        history = {name: self._history(name) for name in there}
        return Detail(path, layer, value, tuple(self._weight(self._stored, name) for name in there), history)

    @functools.cached_property
    def _stored(self) -> StoredCheckpoint | None:
        return None if self.checkpoint is None else StoredCheckpoint(self.checkpoint)

    def _weight(self, stored: StoredCheckpoint, name: str) -> Weight:
        is_known = self.description.mode != ""  # names in a checkpoint alone do not tell what is trained
        trainable = {weight.name: weight.trainable for weight in self.description.weights if is_known}
        return Weight(name, stored.shapes[name], stored.dtypes[name].name, trainable.get(name), stored.stats(name))

    def _history(self, name: str) -> tuple[tuple[int | None, Stats], ...]:
        points = []
        for checkpoint in self.checkpoints:
            stored = StoredCheckpoint(checkpoint.path)
            stats = stored.stats(name) if name in stored.shapes else None
            points += [] if stats is None else [(checkpoint.step, stats)]
        return tuple(points)


def open_model(path: str) -> StoredModel:
    """Open the model in a directory, or one checkpoint of it.

    Raises:
        ModelDirError: there is no model; the text names directories nearby that have one.
        CheckpointUnreadable: there are checkpoints, and none can be read.
    """
    directory, checkpoint = path, None
    if not tf.io.gfile.isdir(path):
        directory, checkpoint = os.path.dirname(path) or ".", _without_ending(path)
        if not tf.io.gfile.isdir(directory):
            raise _no_model(path, "does not exist")
        if not tf.io.gfile.exists(f"{checkpoint}.index") and step_of(path) is None:
            raise _no_model(path, "is neither a directory nor a checkpoint")
        checkpoint = checked_path(checkpoint, "the checkpoint")
    newest = newest_usable(directory)
    description = read_description(directory)
    checkpoints = _checkpoints(directory, newest)
    # Checkpoints are often copied without the state file that names the newest.
    checkpoint = checkpoint or newest or (checkpoints[-1].path if checkpoints else None)
    if checkpoint is None and description is None:
        raise _no_model(path, "holds no checkpoint")
    return StoredModel(directory, description or _described(checkpoint or ""), checkpoint, checkpoints)


def _without_ending(file: str) -> str:
    return re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", file)


def _described(checkpoint: str) -> Description:
    stored = StoredCheckpoint(checkpoint)
    return from_variables(stored.shapes, stored.dtypes)


def _checkpoints(directory: str, newest: str | None) -> tuple[CheckpointInfo, ...]:
    files = [name.rstrip("/") for name in tf.io.gfile.listdir(directory)]
    checkpoints = []
    for name in (file.removesuffix(".index") for file in files if file.endswith(".index")):
        own = [tf.io.gfile.stat(os.path.join(directory, file)) for file in files if file.startswith(f"{name}.")]
        written = max(stat.mtime_nsec for stat in own) / 1e9
        path = os.path.join(directory, name)
        is_newest = newest is not None and os.path.basename(newest) == name
        checkpoints.append(CheckpointInfo(path, step_of(path), written, sum(stat.length for stat in own), is_newest))
    return tuple(sorted(checkpoints, key=lambda one: (one.step if one.step is not None else -1, one.name)))


def _no_model(path: str, problem: str) -> ModelDirError:
    near = neighbours_with_checkpoints(path)
    hint = f"Directories nearby that have checkpoints: {', '.join(near)}." if near else "No directory nearby has any."
    return ModelDirError(f"{path} {problem}; expected the model_dir of a training, or a checkpoint in one. {hint}")


def _plain(value: Any) -> Any:
    """Data that JSON can hold: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
