"""`WeightEdits`: the weights of a checkpoint under change, what `with est.edit() as w:` hands out.

Takes a checkpoint, gives the values that are others than in it. Nothing is written here; names, shapes and types are
checked when they are set, so that an error comes before anything is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, MutableMapping, Sequence
from typing import Any, NoReturn

import numpy as np

from lightwell.base.printable import printable_lines
from lightwell.errors import PathError, UsageError
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.optimizer_state import weight_served_by
from lightwell.inside.paths.patterns import matches_weight, pattern_list, without_section
from lightwell.inside.paths.sections.base import Section
from lightwell.inside.paths.sections.variables import SLOTS, WEIGHTS
from lightwell.inside.weights.views import LayerSource, LayersView, WeightsView
from lightwell.run.checkpoints.index import checked_path, newest_usable
from lightwell.run.checkpoints.lineage import Change
from lightwell.run.checkpoints.reader import open_checkpoint, variable_value

Array = np.ndarray[Any, Any]
_MOST_SHOWN = 10


class WeightEdits(MutableMapping[str, Array]):
    """The weights of a model, to be changed: by index, by operator, or as a whole.

    `w["dense/kernel"][:, 3] = 0`, `w["dense/kernel"] *= 0.5` and `w["dense/kernel"] = array` change a weight,
    `w.layers["dense"].kernel` is the same one by its layer, `w.slots` is the state of the optimizer. A partitioned
    variable is one array.

    Attributes:
        parent: the checkpoint that is edited.
        checkpoint: once the block is left, the checkpoint that was written; None before, and where nothing changed.

    Args:
        parent: the checkpoint.
        directory: the `model_dir`, where the model's description is.
        initial: what variables of a checkpoint start from, by their names.
    """

    def __init__(self, parent: str, directory: str, initial: Callable[[str, Sequence[str]], dict[str, Array]]) -> None:
        self.parent = parent
        self.checkpoint: str | None = None
        self._directory = directory
        self._initial = initial
        self._views = _views(parent)
        self._weights = frozenset(self._views[WEIGHTS])
        self._shapes: dict[str, list[int]] = open_checkpoint(parent).get_variable_to_shape_map()
        self._now: dict[str, Array] = {}
        self._how: dict[str, str] = {}

    @property
    def layers(self) -> LayersView:
        """The layers, whose weights are attributes: `w.layers["conv2d"].kernel *= 0.5`."""
        return LayersView(self._directory, LayerSource(lambda: self.parent, self.__getitem__, change=self.__setitem__))

    @property
    def slots(self) -> SlotEdits:
        """The optimizer's state: `w.slots["dense/kernel/Momentum"][...] = 0`."""
        return SlotEdits(self)

    def __getitem__(self, name: str) -> Array:
        variable = self._resolve(name)[1]
        if variable not in self._now:
            self._now[variable] = np.array(variable_value(self.parent, variable))
        return self._now[variable]

    def __setitem__(self, name: str, value: Any) -> None:
        section, variable = self._resolve(name)
        if value is not self._now.get(variable):  # after `w[name] *= 2` it is the array itself
            self._put(section, variable, value, "set")

    def __delitem__(self, name: str) -> NoReturn:
        raise UsageError(f"edit: {name!r} cannot be deleted, the model has it. Set its values: w[{name!r}][...] = 0.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._views[WEIGHTS])

    def __len__(self) -> int:
        return len(self._views[WEIGHTS])

    def copy(self, names: str | Sequence[str], *, from_checkpoint: Any) -> list[str]:
        """Takes values from another checkpoint, under the same names; gives those names.

        Args:
            names: names or globs: `"enc/*"` are the weights, `"slots/enc/*"` their optimizer state.
            from_checkpoint: the checkpoint, or a `model_dir`, whose newest is taken.

        Raises:
            PathError: a name matches nothing there, or something that this model does not have.
        """
        source = _checkpoint_at(from_checkpoint)
        views = _views(source)
        taken: list[str] = []
        for pattern in pattern_list(names):
            section, plain = _split_section(pattern)
            matched = _matched(plain, list(views[section]), f"copy: {source} has no {section}", pattern)
            foreign = [name for name in matched if name not in self._shapes]
            if foreign:
                raise PathError(
                    f"copy: {source} has {', '.join(foreign[:_MOST_SHOWN])}, which this model has not. Narrow the "
                    f"pattern {pattern!r}."
                )
            for name in matched:
                self._put(section, name, variable_value(source, name), f"copied from {source}")
            taken += matched
        return taken

    def reset_slots(self, names: str | Sequence[str] = "*") -> list[str]:
        """Lets the optimizer's state of weights start afresh, as in a new model; gives the names of the slots.

        Moving averages of weights stay: they would start from the weights of a model that knows nothing.

        Args:
            names: weights, by name or glob: `"dense/*"`. All of them also resets what the optimizer keeps for all
                weights together.

        Raises:
            PathError: a name matches no weight that has slots.
            UsageError: it is not known what they start from.
        """
        owners, reset = {slot: owner for slot, owner in self._owners().items() if not _is_average(slot)}, []
        for pattern in pattern_list(names):
            plain = without_section(pattern, WEIGHTS, SLOTS)
            matched = [
                slot
                for slot, owner in owners.items()
                if matches_weight(slot, plain) or matches_weight(owner or "", plain)
            ]
            if not matched:
                raise _unmatched(plain, list(owners), "reset_slots: there are no slots of", pattern)
            reset += matched
        for name, value in self._initial(self.parent, list(dict.fromkeys(reset))).items():
            self._put(SLOTS, name, value, "reset", is_piece=True)
        return reset

    def changes(self) -> dict[str, Change]:
        """What is other than in the parent, by its name in the checkpoint, in words for the lineage."""
        for name, value in self._now.items():
            if value.dtype.kind == "O":  # whatever was put into an array of strings
                value[...] = _strings(self._path(name), value)
        differences = {name: self._difference(name, value) for name, value in self._now.items()}
        return {name: change for name, change in differences.items() if change is not None}

    def new_values(self, names: Iterable[str]) -> dict[str, Array]:
        """The values as they are now."""
        return {name: self._now[name] for name in names}

    def averages_left(self, changed: Container[str]) -> dict[str, str]:
        """The moving averages that stay as they were while their weights are among the changed: average -> weight."""
        averages = {slot: owner for slot, owner in self._owners().items() if _is_average(slot) and slot not in changed}
        return {average: owner for average, owner in averages.items() if owner is not None and owner in changed}

    def __repr__(self) -> str:
        changes = "\n".join(f"  {change}" for change in self.changes().values()) or "  nothing is changed"
        return printable_lines(f"edit of {os.path.basename(self.parent)}\n{changes}")

    def _resolve(self, name: str) -> tuple[Section, str]:
        section = SLOTS if str(name).startswith(f"{SLOTS}/") else WEIGHTS
        return section, self._views[section].variable(name)

    def _owners(self) -> dict[str, str | None]:
        """The slots, with the weight that each serves."""
        return {slot: weight_served_by(slot, self._weights) for slot in self._views[SLOTS]}

    def _put(self, section: Section, variable: str, value: Any, how: str, *, is_piece: bool = False) -> None:
        before = np.asarray(value) if is_piece else variable_value(self.parent, variable)
        self._now[variable] = fitting(f"{section}/{variable}", value, before)
        self._how[variable] = how

    def _difference(self, name: str, value: Array) -> Change | None:
        how = self._how.get(name, "changed")
        if how == "reset" and list(value.shape) != list(self._shapes[name]):  # of a piece, which is read only in full
            return Change(self._path(name), value.size, value.size, None, how)
        return difference(self._path(name), variable_value(self.parent, name), value, how)

    def _path(self, name: str) -> str:
        return f"{WEIGHTS if name in self._weights else SLOTS}/{name}"


class SlotEdits(MutableMapping[str, Array]):
    """The optimizer's state under change, by name: `w.slots["dense/kernel/Adam"]`."""

    def __init__(self, edits: WeightEdits) -> None:
        self._edits = edits

    def __getitem__(self, name: str) -> Array:
        return self._edits[f"{SLOTS}/{without_section(name, SLOTS)}"]

    def __setitem__(self, name: str, value: Any) -> None:
        self._edits[f"{SLOTS}/{without_section(name, SLOTS)}"] = value

    def __delitem__(self, name: str) -> NoReturn:
        del self._edits[name]
        raise AssertionError("unreachable")

    def __iter__(self) -> Iterator[str]:
        return iter(WeightsView(lambda: self._edits.parent, SLOTS))

    def __len__(self) -> int:
        return len(WeightsView(lambda: self._edits.parent, SLOTS))


def fitting(path: str, value: Any, before: Array) -> Array:
    """A value that may take the place of `before`, in its type; a copy.

    Raises:
        UsageError: it has another shape, or a type that does not fit.
    """
    array = np.asarray(value)
    if before.dtype.kind != "O" and array.dtype.kind not in "biufcV":  # V: the small floats that NumPy does not have
        raise UsageError(
            f"edit of {path}: expected numbers of type {before.dtype}, got {value!r:.60} of type "
            f"{type(value).__name__}. Nothing was written."
        )
    if array.shape != before.shape:
        hint = f" To set all of it to one number: w[{path!r}][...] = {value!r}." if array.ndim == 0 else ""
        raise UsageError(
            f"edit of {path}: expected the shape {list(before.shape)}, got {list(array.shape)}. Nothing was "
            f"written.{hint}"
        )
    if before.dtype.kind == "O":
        return _strings(path, array)
    if array.dtype != before.dtype and not np.can_cast(array.dtype, before.dtype, "same_kind"):
        raise UsageError(
            f"edit of {path}: expected values of type {before.dtype}, got {array.dtype}, which cannot be kept in it. "
            f"Nothing was written. Convert them: value.astype({str(before.dtype)!r})."
        )
    with np.errstate(over="ignore"):
        converted = np.array(array, dtype=before.dtype)
    beyond = converted != array if converted.dtype.kind in "iu" else np.isinf(converted) & np.isfinite(array)
    if converted.dtype != array.dtype and np.any(beyond):
        one = array[beyond].flat[0].item()
        raise UsageError(f"edit of {path}: {one!r} is beyond what {before.dtype} can hold. Nothing was written.")
    return converted


def _strings(path: str, array: Array) -> Array:
    """Strings as a checkpoint has them; a copy."""
    encoded = np.empty(array.shape, object)
    for place, one in np.ndenumerate(array):
        if not isinstance(one, str | bytes):
            raise UsageError(
                f"edit of {path}: expected strings, got {one} of the type {type(one).__name__}. Nothing was written."
            )
        encoded[place] = one.encode() if isinstance(one, str) else bytes(one)
    return encoded


def difference(path: str, before: Array, after: Array, how: str) -> Change | None:
    """What changed in a value; None if not a bit did."""
    if before.dtype.kind == "O":
        changed = int(np.sum(before != after))
        return Change(path, changed, before.size, None, how) if changed else None
    one, other = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (before, after))
    bits = (one != other).reshape(before.size, -1).any(axis=1) if before.size else np.zeros(0, bool)
    if not bits.any():
        return None
    moved = after.astype(np.float64) - before.astype(np.float64) if before.dtype.kind not in "c" else after - before
    norm = float(np.linalg.norm(moved.ravel()))
    return Change(path, int(bits.sum()), before.size, norm if np.isfinite(norm) else None, how)


def _views(checkpoint: str) -> dict[Section, WeightsView]:
    return {section: WeightsView(lambda: checkpoint, section) for section in (WEIGHTS, SLOTS)}


def _checkpoint_at(source: Any) -> str:
    import tensorflow as tf

    place = os.fspath(source)
    newest = newest_usable(place) if tf.io.gfile.isdir(place) else None
    return newest if newest is not None else checked_path(place, "from_checkpoint")


def _split_section(pattern: str) -> tuple[Section, str]:
    section = SLOTS if pattern.startswith(f"{SLOTS}/") else WEIGHTS
    return section, without_section(pattern, section)


def _matched(pattern: str, names: Sequence[str], problem: str, written: str) -> list[str]:
    """The names that a pattern matches, or that stand below what it matches."""
    matched = [name for name in names if matches_weight(name, pattern)]
    if not matched:
        raise _unmatched(pattern, names, problem, written)
    return matched


def _unmatched(pattern: str, names: Sequence[str], problem: str, written: str) -> PathError:
    close = nearest_paths(pattern, names) or list(names)[:5]
    return PathError(f"{problem} {written!r}. The nearest are {close}.")


def _is_average(slot: str) -> bool:
    """Whether it is what `tf.train.ExponentialMovingAverage` keeps, by the name that it gives."""
    return slot.rpartition("/")[2].startswith("ExponentialMovingAverage")
