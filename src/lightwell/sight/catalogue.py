"""The catalogue of a program: every value it has, by path.

Takes a built `Program`, gives `Entry` values. Nothing is added to the graph here; gradients are made by `derived.py`
when somebody asks for them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.keys import ModeKeys
from lightwell.layers.record import LayerCall
from lightwell.sight.optimizer_state import learning_rates, split_variables

# Sections whose values have one row per example, so that they can be cut along the batch.
_BY_EXAMPLE = frozenset(["features", "labels", "layers", "predictions", "collections", "tensors"])
SECTIONS = (
    "features labels layers weights slots gradients updates predictions loss metrics learning_rate global_step "
    "collections tensors timing"
).split()
# Sections that hold what `input_fn` or `model_fn` gave as a structure: a name inside it means all that is below.
STRUCTURES = frozenset(["features", "labels", "predictions"])
TIMING = ("timing/step", "timing/examples_per_second")
_HANDLES = (tf.resource, tf.variant)  # types of what stands for something else and cannot be read
_STEP_READS = "global_step_read_op_cache"  # the collection in which TensorFlow's hooks keep a tensor of theirs
_OWN_SCOPE = "lightwell/"  # ops that Lightwell added to the graph are no part of the model


@dataclass(frozen=True, eq=False)
class Entry:
    """One value.

    Attributes:
        path: its name.
        section: the first part of the path.
        tensor: the symbolic value; None where it has still to be made (gradients, updates) or is measured (timing).
        call: for a layer's output or input, the call it belongs to.
        is_input: whether it is what a layer was called with, or the gradient of that.
        source: for a gradient or an update, the entry it is of.
    """

    path: str
    section: str
    tensor: Any = None
    call: LayerCall | None = None
    is_input: bool = False
    source: Entry | None = None

    @property
    def by_example(self) -> bool:
        """Whether the first dimension is the batch (for a gradient: that of its source)."""
        if self.section == "gradients" and self.source is not None:
            return self.source.by_example
        return self.section in _BY_EXAMPLE


class Catalogue:
    """All paths of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def section(self, name: str) -> dict[str, Entry]:
        """The entries of one section, by path, in their natural order."""
        return self._sections[name]()

    def paths(self) -> list[str]:
        """All paths but those under `gradients/`, `updates/` and `tensors/`, which mirror others."""
        return [
            path for name in SECTIONS if name not in ("gradients", "updates", "tensors") for path in self.section(name)
        ]

    @functools.cached_property
    def _sections(self) -> dict[str, Callable[[], dict[str, Entry]]]:
        program = self.program
        return {
            "features": functools.cache(lambda: _structure("features", program.inputs.features)),
            "labels": functools.cache(lambda: _structure("labels", program.inputs.labels)),
            "layers": functools.cache(lambda: _layers(program)),
            "weights": functools.cache(lambda: _variables("weights", self._split[0])),
            "slots": functools.cache(lambda: _variables("slots", self._split[1])),
            "gradients": functools.cache(self._gradients),
            "updates": functools.cache(self._updates),
            "predictions": functools.cache(lambda: _structure("predictions", program.spec.predictions)),
            "loss": functools.cache(lambda: _single("loss", program.spec.loss)),
            "metrics": functools.cache(self._metrics),
            "learning_rate": functools.cache(lambda: _entries("learning_rate", learning_rates(program))),
            "global_step": functools.cache(lambda: _single("global_step", program.step_after, program.global_step)),
            "collections": functools.cache(lambda: _collections(program.graph)),
            "tensors": functools.cache(lambda: _tensors(program.graph)),
            "timing": functools.cache(lambda: _entries("timing", dict.fromkeys(TIMING))),
        }

    @functools.cached_property
    def _split(self) -> tuple[list[Any], list[Any]]:
        return split_variables(self.program.graph)

    def _gradients(self) -> dict[str, Entry]:
        if self.program.mode == ModeKeys.PREDICT or self.program.spec.loss is None:
            return {}
        trainable = {id(v) for v in self.program.graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)}
        sources = [entry for entry in self.section("weights").values() if id(entry.tensor) in trainable]
        for name in ("layers", "features"):
            sources += [entry for entry in self.section(name).values() if _is_float(entry.tensor)]
        return {entry.path: entry for entry in (_derived("gradients", source) for source in sources)}

    def _updates(self) -> dict[str, Entry]:
        if self.program.mode != ModeKeys.TRAIN:
            return {}
        entries = (_derived("updates", source) for source in self.section("weights").values())
        return {entry.path: entry for entry in entries}

    def _metrics(self) -> dict[str, Entry]:
        values = {} if self.program.evaluation is None else self.program.evaluation.values
        return _entries("metrics", {f"metrics/{name}": one for name, one in values.items() if name != "global_step"})


def _single(path: str, *candidates: Any) -> dict[str, Entry]:
    tensor = next((candidate for candidate in candidates if candidate is not None), None)
    return {} if tensor is None else {path: Entry(path, path, tensor)}


def _derived(section: str, source: Entry) -> Entry:
    return Entry(f"{section}/{source.path}", section, is_input=source.is_input, source=source)


def _entries(section: str, tensors: Mapping[str, Any]) -> dict[str, Entry]:
    return {path: Entry(path, section, tensor) for path, tensor in tensors.items()}


def _structure(section: str, structure: Any) -> dict[str, Entry]:
    """Paths of a structure of tensors: keys and positions joined by `/`, a lone tensor under the section's name."""
    return {} if structure is None else _entries(section, dict(_leaves(section, structure)))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(f"{path}/{key}", part)
    elif hasattr(value, "_asdict"):
        yield from _leaves(path, value._asdict())
    elif isinstance(value, tuple | list):
        for index, part in enumerate(value):
            yield from _leaves(f"{path}/{index}", part)
    elif tf.is_tensor(value):
        yield path, value


def _layers(program: Program) -> dict[str, Entry]:
    calls_of: dict[str, int] = {}
    for call in program.layers:
        calls_of[call.name] = calls_of.get(call.name, 0) + 1
    found: dict[str, Entry] = {}
    for call in program.layers:
        base = f"layers/{call.name}" + (f":{call.call}" if calls_of[call.name] > 1 else "")
        for path, tensor in _numbered(base, call.outputs):
            found.setdefault(path, Entry(path, "layers", tensor, call))
        for path, tensor in _numbered(f"{base}/input", call.inputs):
            found.setdefault(path, Entry(path, "layers", tensor, call, is_input=True))
    return found


def _numbered(path: str, value: Any) -> list[tuple[str, Any]]:
    """One tensor under the path itself; several as `path[0]`, `path[1]`."""
    leaves = [leaf for leaf in tf.nest.flatten(value) if tf.is_tensor(leaf)]
    return [(path, leaves[0])] if len(leaves) == 1 else [(f"{path}[{i}]", leaf) for i, leaf in enumerate(leaves)]


def _variables(section: str, variables: list[Any]) -> dict[str, Entry]:
    return _entries(section, {f"{section}/{variable.op.name}": variable for variable in variables})


def _collections(graph: tf.Graph) -> dict[str, Entry]:
    found: dict[str, Any] = {}
    for name in graph.get_all_collection_keys():
        if isinstance(name, str) and not name.startswith("_") and name != _STEP_READS:
            found.update(_numbered(f"collections/{name}", _tensors_in(graph.get_collection(name))))
    return _entries("collections", found)


def _tensors_in(members: list[Any]) -> list[Any]:
    """The tensors of a collection; variables have paths of their own, tables and iterators are no values."""
    tensors = [member for member in members if tf.is_tensor(member) and not isinstance(member, tf.Variable)]
    return [tensor for tensor in tensors if tensor.dtype not in _HANDLES]


def _tensors(graph: tf.Graph) -> dict[str, Entry]:
    found = {}
    for op in graph.get_operations():
        for tensor in () if op.name.startswith(_OWN_SCOPE) else op.outputs:
            if graph.is_fetchable(tensor) and tensor.dtype not in _HANDLES:
                found[f"tensors/{tensor.name}"] = tensor
    return _entries("tensors", found)


def _is_float(tensor: Any) -> bool:
    return isinstance(tensor, tf.Tensor) and tensor.dtype.is_floating
