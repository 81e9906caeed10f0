"""What a section is: the first part of a path, and all that is known of the values below it.

`Section` lists, resolves and fetches the values of one kind; each kind has a subclass in its own file. `Entry` is one
value. Nothing here knows a particular section.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.inside.paths.patterns import is_glob, is_numbered, matches_value, with_first_call, without_first_call
from lightwell.inside.paths.reductions import holds_numbers
from lightwell.model.layers.record import LayerCall
from lightwell.run.engine.program import Program

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue
    from lightwell.inside.paths.on_disk import OnDisk, StoredValue


class PathValue(Protocol):
    """What a path resolves to: an entry of a program, or a value of a model on disk."""

    @property
    def path(self) -> str:
        """Its path."""

    @property
    def is_input(self) -> bool:
        """Whether it is what a layer was called with."""


AnyPathValue = TypeVar("AnyPathValue", bound=PathValue)


@dataclass(frozen=True, eq=False)
class Entry:
    """One value.

    Attributes:
        path: its name.
        section: the kind of value it is; equal to the first part of the path, `entry.section == "weights"`.
        tensor: the symbolic value; None where it is built on demand (gradients, updates) or is measured (timing).
        call: for a layer's output or input, the call it belongs to.
        is_input: whether it is what a layer was called with, or the gradient of that.
        source: for a gradient or an update, the entry it is of.
        replica: under a strategy, the number of the replica that a path names; None for all of them.
    """

    path: str
    section: Section
    tensor: Any = None
    call: LayerCall | None = None
    is_input: bool = False
    source: Entry | None = None
    replica: int | None = None

    @property
    def by_example(self) -> bool:
        """Whether the first dimension is the batch."""
        return self.section.is_by_example(self)

    @property
    def may_have_rows(self) -> bool:
        """Whether its shape, as far as it is known, has a first dimension that may be the batch."""
        shape = self.prototype.shape
        return shape.rank is None or shape.rank > 0

    @property
    def prototype(self) -> Any:
        """A tensor of the same type and shape: the value itself, or what a gradient or an update is of. None where it
        is measured."""
        return self.tensor if self.source is None else self.source.tensor


class Section:
    """One kind of value. There is one object of each class; it is equal to its name.

    Attributes:
        name: the first part of its paths.
        also_called: what people write in its place.
        absent: why a model may have nothing here.
        modes: the modes in which a model can have it.
        absent_elsewhere: why there is nothing here in the other modes.
        has_examples: whether a value has one row for each example, so that it can be cut along the batch.
        is_by_replica: whether, under a strategy, each replica has a value of its own.
        is_mirror: whether its paths repeat those of other sections; they are suggested only for a path of this section.
        is_offered: whether predicates are called with its values.
        takes_bare_names: whether a name without a section is looked for here.
        is_stored: whether a model on disk has it.
        is_measured: whether a value is measured around the step, and no tensor.
        is_a_change: whether a value is what a step changed in its `prototype`; what is fetched is the value after it.
        not_tapped: why a value cannot be a tap of `predict` and `evaluate`; empty where it can.
        not_captured: why a value cannot be captured; empty where it can, if it has a row for each example.
    """

    name: ClassVar[str]
    also_called: ClassVar[tuple[str, ...]] = ()
    absent: ClassVar[str] = "this model has none."
    modes: ClassVar[tuple[str, ...]] = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
    absent_elsewhere: ClassVar[str] = ""
    has_examples: ClassVar[bool] = False
    is_by_replica: ClassVar[bool] = False
    is_mirror: ClassVar[bool] = False
    is_offered: ClassVar[bool] = True
    takes_bare_names: ClassVar[bool] = False
    is_stored: ClassVar[bool] = False
    is_measured: ClassVar[bool] = False
    is_a_change: ClassVar[bool] = False
    not_tapped: ClassVar[str] = ""
    not_captured: ClassVar[str] = ""

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        """All values of a program in this section, by path, in their natural order."""
        raise NotImplementedError

    def stored_values(self, on_disk: OnDisk) -> list[StoredValue]:
        """The values of this section that a model on disk has."""
        return []

    def resolve(self, path: str, known: Mapping[str, AnyPathValue]) -> list[AnyPathValue]:
        """The values that a path or glob of this section selects; empty if it names nothing.

        Args:
            path: a full path, the section's name first.
            known: what there is in this section, by path.
        """
        if is_glob(path):
            return [one for name, one in known.items() if matches_value(name, one.is_input, path)]
        return [known[path]] if path in known else self._resolve_loosely(path, known)

    def why_empty(self, mode: str) -> str:
        """Why a program has nothing in this section."""
        return self.absent if mode in self.modes else self.absent_elsewhere

    def why_missing(self, path: str, catalogue: Catalogue) -> str:
        """Why a path names nothing although there are others in this section; empty where there is no reason but that
        it does not exist."""
        return ""

    def is_by_example(self, entry: Entry) -> bool:
        """Whether the first dimension of an entry's value is the batch."""
        return self.has_examples

    def holds_numbers(self, entry: Entry) -> bool:
        """Whether an entry's value can be reduced."""
        return holds_numbers(entry.prototype)

    def fetches(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        """What to fetch for entries of this section, by path: tensors of the step, or `Late` ones.

        May add to the graph. A path is left out where the value does not exist, `why_not_made`, or is measured.
        """
        return {entry.path: entry.tensor for entry in entries}

    def fetches_outside_step(self, program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
        """The same for a run that is no step, and must not make one."""
        return self.fetches(program, entries, where)

    def over_replicas(self, entry: Entry, values: Sequence[Any], there: Sequence[Any]) -> Any:
        """One value for those of all replicas.

        Args:
            entry: what it is.
            values: the value of each replica.
            there: whether each has a batch of its own in this step, as a tensor; None where it always has.
        """
        if not (entry.by_example and entry.may_have_rows):
            return values[0]
        return joined_rows([_rows_there(value, one) for value, one in zip(values, there, strict=True)])

    def why_not_fetched(self, entry: Entry) -> str:
        """Why `fetches` left an entry out."""
        return f"{entry.path!r} is measured around a step, and is no value that can be fetched."

    def _resolve_loosely(self, path: str, known: Mapping[str, AnyPathValue]) -> list[AnyPathValue]:
        """The values of a name that leaves out a number.

        `layers/dense`, where the layer is called twice, is its first call, as `layers/dense:0` is the only call of a
        layer that is called once. `layers/lstm` is all its outputs, `weights/table` all parts of a partitioned
        variable.
        """
        for candidate in (path, without_first_call(path) if ":" in path else with_first_call(path)):
            if candidate in known:
                return [known[candidate]]
            parts = [one for name, one in known.items() if is_numbered(name, candidate)]
            if parts:
                return parts
        return []

    def __eq__(self, other: object) -> bool:
        return self is other or self.name == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<section {self.name}>"


def below(path: str, known: Mapping[str, AnyPathValue]) -> list[AnyPathValue]:
    """All that stands below a path."""
    return [one for name, one in known.items() if name.startswith(f"{path}/")]


def named_tensors(section: Section, tensors: Mapping[str, Any]) -> dict[str, Entry]:
    """Entries of a section for tensors by path."""
    return {path: Entry(path, section, tensor) for path, tensor in tensors.items()}


def numbered(path: str, value: Any) -> list[tuple[str, Any]]:
    """The tensors of a structure: a single one under the path itself; several as `path[0]`, `path[1]`."""
    leaves = [leaf for leaf in tf.nest.flatten(value) if tf.is_tensor(leaf)]
    return [(path, leaves[0])] if len(leaves) == 1 else [(f"{path}[{i}]", leaf) for i, leaf in enumerate(leaves)]


def joined_rows(values: Sequence[Any]) -> Any:
    """The rows of several values, one after the other."""
    if all(isinstance(value, tf.SparseTensor) for value in values):
        return tf.sparse.concat(0, list(values), expand_nonconcat_dims=True)
    if any(value.shape.rank is None for value in values):
        return values[0]
    return tf.concat(list(values), 0)


def _rows_there(value: Any, is_there: Any) -> Any:
    """All rows of a value, or none where its replica has no batch of its own."""
    if is_there is None:
        return value
    if isinstance(value, tf.SparseTensor):
        sizes = value.dense_shape
        shape = tf.concat([tf.where(is_there, sizes[:1], tf.zeros_like(sizes[:1])), sizes[1:]], 0)
        return tf.sparse.slice(value, tf.zeros_like(sizes), shape)
    rows = value.nrows() if isinstance(value, tf.RaggedTensor) else tf.shape(value)[0]
    return value[: tf.where(is_there, rows, tf.zeros_like(rows))]
