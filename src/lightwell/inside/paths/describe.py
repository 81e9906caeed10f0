"""The description of a model as plain data: layers, weights, inputs, predictions, each with its path.

Takes a `Program`, gives a `Description` that needs neither graph nor program any more. Training keeps one in
`model_dir` (`stored_description.py`), so that the model can be looked at later without its code.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import asdict, dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.inside.paths.catalogue import Catalogue
from lightwell.inside.paths.optimizer_state import split_names
from lightwell.inside.paths.sections.base import Entry
from lightwell.inside.paths.sections.layers import LAYERS
from lightwell.inside.paths.sections.structures import FEATURES, LABELS, PREDICTIONS
from lightwell.inside.paths.sections.variables import SLOTS, WEIGHTS
from lightwell.model.layers.record import LayerCall
from lightwell.run.engine.op_devices import OpDevice
from lightwell.run.engine.program import Program

UNKNOWN_KIND = "?"
FORMAT = 1


@dataclass(frozen=True)
class ValueInfo:
    """A value: its path, shape (None for a size known only when it runs), type, and whether it is dense, sparse or
    ragged."""

    path: str
    shape: tuple[int | None, ...] | None
    dtype: str
    form: str = "dense"

    @property
    def kind(self) -> str:
        """Type and form in words: `float32`, `sparse string`."""
        return self.dtype if self.form == "dense" else f"{self.form} {self.dtype}"


@dataclass(frozen=True)
class WeightInfo:
    """A variable: its name in checkpoints, its attribute on the layer (`kernel`), its size.

    A partitioned variable is one, as it is in a checkpoint.
    """

    name: str
    attribute: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool

    @property
    def parameters(self) -> int:
        """How many numbers it holds."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True)
class LayerInfo:
    """A layer: where it is called, what comes out, what it owns."""

    name: str
    kind: str
    outputs: tuple[ValueInfo, ...]
    inputs: tuple[ValueInfo, ...]
    weights: tuple[WeightInfo, ...] = ()
    calls: int = 1

    @property
    def path(self) -> str:
        """The path of its output."""
        return f"layers/{self.name}"

    @property
    def parameters(self) -> int:
        """How many numbers its weights hold; those of layers inside it are among them."""
        return sum(weight.parameters for weight in self.weights)


@dataclass(frozen=True)
class Description:
    """A model, described. Prints as a table, renders in a notebook, and is plain data with `to_dict()`.

    `devices` is empty unless it was asked for: where each op of a step runs, in the order of the graph. `notes` are
    lines of a model's own: its trees.
    """

    layers: tuple[LayerInfo, ...] = ()
    weights: tuple[WeightInfo, ...] = ()
    slots: tuple[str, ...] = ()
    features: tuple[ValueInfo, ...] = ()
    labels: tuple[ValueInfo, ...] = ()
    predictions: tuple[ValueInfo, ...] = ()
    mode: str = ""
    devices: tuple[OpDevice, ...] = ()
    notes: tuple[str, ...] = ()
    format: int = field(default=FORMAT, repr=False)

    @property
    def parameters(self) -> int:
        """How many numbers all weights hold; optimizer state is not counted."""
        return sum(weight.parameters for weight in self.weights)

    @property
    def trainable_parameters(self) -> int:
        """How many of them training changes."""
        return sum(weight.parameters for weight in self.weights if weight.trainable)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: dicts, lists, strings and numbers."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        if not self.devices:
            del data["devices"]
        if not self.notes:
            del data["notes"]
        for layer in data["layers"]:
            layer["path"] = f"layers/{layer['name']}"
        return {**data, "parameters": self.parameters, "trainable_parameters": self.trainable_parameters}

    def __str__(self) -> str:
        from lightwell.inside.paths.show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from lightwell.inside.paths.show import as_html

        return as_html(self)


def describe(program: Program) -> Description:
    """Describes a built program."""
    catalogue = Catalogue(program)
    return Description(
        layers=_layers(catalogue),
        weights=_weight_infos([entry.tensor for entry in catalogue.section(WEIGHTS).values()], catalogue.trained),
        slots=tuple(path.partition("/")[2] for path in catalogue.section(SLOTS)),
        features=_infos(catalogue.section(FEATURES)),
        labels=_infos(catalogue.section(LABELS)),
        predictions=_infos(catalogue.section(PREDICTIONS)),
        mode=program.mode,
    )


def from_variables(shapes: dict[str, Any], dtypes: dict[str, Any]) -> Description:
    """A description by a checkpoint alone: the variables of one scope count as one layer."""
    names, slots = split_names(sorted(shapes))
    weights = [
        WeightInfo(name, name.rpartition("/")[2], tuple(shapes[name]), dtypes[name].name, trainable=True)
        for name in names
    ]
    scopes: dict[str, list[WeightInfo]] = {}
    for weight in weights:
        scope = weight.name.rpartition("/")[0]
        if scope:
            scopes.setdefault(scope, []).append(weight)
    layers = [LayerInfo(scope, UNKNOWN_KIND, (), (), tuple(owned)) for scope, owned in scopes.items()]
    return Description(layers=tuple(layers), weights=tuple(weights), slots=tuple(slots))


def _layers(catalogue: Catalogue) -> tuple[LayerInfo, ...]:
    of_layer: dict[str, list[Entry]] = {}
    for entry in catalogue.section(LAYERS).values():
        if entry.call is not None:
            of_layer.setdefault(entry.call.name, []).append(entry)
    calls: dict[str, list[LayerCall]] = {}
    for call in catalogue.program.layers:
        calls.setdefault(call.name, []).append(call)
    return tuple(
        LayerInfo(
            name,
            last.kind,
            outputs=tuple(_info(entry) for entry in of_layer.get(name, ()) if not entry.is_input),
            inputs=tuple(_info(entry) for entry in of_layer.get(name, ()) if entry.is_input),
            weights=_weight_infos(last.variables, catalogue.trained, f"{name}/"),
            calls=len(own),
        )
        for name, own in calls.items()
        for last in own[-1:]
    )


def _weight_infos(variables: Iterable[Any], trainable: Set[int], scope: str = "") -> tuple[WeightInfo, ...]:
    """Each variable once; its attribute is the last part of its name, or where several of a layer share that, what
    follows the layer's name."""
    named = {private_tf.whole_variable(variable)[0]: variable for variable in variables}
    last_parts = [name.rpartition("/")[2] for name in named]
    counts = Counter(last_parts)
    infos = []
    for (name, variable), last in zip(named.items(), last_parts, strict=True):
        attribute = last if counts[last] == 1 else name.removeprefix(scope)
        shape = private_tf.whole_variable(variable)[1]
        infos.append(WeightInfo(name, attribute, shape, variable.dtype.base_dtype.name, id(variable) in trainable))
    return tuple(infos)


def _infos(entries: dict[str, Entry]) -> tuple[ValueInfo, ...]:
    return tuple(_info(entry) for entry in entries.values())


def _info(entry: Entry) -> ValueInfo:
    tensor = entry.tensor
    sizes = None if tensor.shape.rank is None else tuple(tensor.shape.as_list())
    forms = {tf.SparseTensor: "sparse", tf.RaggedTensor: "ragged"}
    return ValueInfo(entry.path, sizes, tensor.dtype.base_dtype.name, forms.get(type(tensor), "dense"))
