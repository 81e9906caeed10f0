"""What a model is made of, as plain data: layers, weights, inputs, predictions, each with its path.

Takes a `Program`, gives a `Description` that needs neither graph nor program any more. Training keeps one in
`model_dir`, so that the model can be looked at later without its code.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.layers.record import LayerCall
from lightwell.sight.catalogue import Catalogue, Entry
from lightwell.sight.optimizer_state import split_names

FILE_NAME = "description.json"
_FORMAT = 1


@dataclass(frozen=True)
class ValueInfo:
    """A value: its path, shape (None for a size known only when it runs) and type."""

    path: str
    shape: tuple[int | None, ...] | None
    dtype: str


@dataclass(frozen=True)
class WeightInfo:
    """A variable: its name in checkpoints, its attribute on the layer (`kernel`), its size."""

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
        """How many numbers its own weights hold."""
        return sum(weight.parameters for weight in self.weights)


@dataclass(frozen=True)
class Description:
    """A model, described. Prints as a table, renders in a notebook, and is plain data with `to_dict()`."""

    layers: tuple[LayerInfo, ...] = ()
    weights: tuple[WeightInfo, ...] = ()
    slots: tuple[str, ...] = ()
    features: tuple[ValueInfo, ...] = ()
    labels: tuple[ValueInfo, ...] = ()
    predictions: tuple[ValueInfo, ...] = ()
    mode: str = ""
    format: int = field(default=_FORMAT, repr=False)

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
        for layer in data["layers"]:
            layer["path"] = f"layers/{layer['name']}"
        return {**data, "parameters": self.parameters, "trainable_parameters": self.trainable_parameters}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Description:
        """The reverse of `to_dict`."""
        return cls(
            layers=tuple(
                LayerInfo(
                    layer["name"],
                    layer["kind"],
                    _values(layer["outputs"]),
                    _values(layer["inputs"]),
                    _weights(layer["weights"]),
                    layer["calls"],
                )
                for layer in data["layers"]
            ),
            weights=_weights(data["weights"]),
            slots=tuple(data["slots"]),
            features=_values(data["features"]),
            labels=_values(data["labels"]),
            predictions=_values(data["predictions"]),
            mode=data["mode"],
        )

    def __str__(self) -> str:
        from lightwell.sight.show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from lightwell.sight.show import as_html

        return as_html(self)


def describe(program: Program) -> Description:
    """Describes a built program."""
    catalogue = Catalogue(program)
    trainable = {id(v) for v in program.graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)}
    weights = [_weight(entry.tensor, trainable) for entry in catalogue.section("weights").values()]
    return Description(
        layers=_layers(catalogue, trainable),
        weights=tuple(weights),
        slots=tuple(path.partition("/")[2] for path in catalogue.section("slots")),
        features=_infos(catalogue.section("features")),
        labels=_infos(catalogue.section("labels")),
        predictions=_infos(catalogue.section("predictions")),
        mode=program.mode,
    )


def from_variables(shapes: dict[str, Any], dtypes: dict[str, Any]) -> Description:
    """What can be told from a checkpoint alone: variables of one scope are taken for one layer."""
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
    layers = [LayerInfo(scope, "?", (), (), tuple(owned)) for scope, owned in scopes.items()]
    return Description(layers=tuple(layers), weights=tuple(weights), slots=tuple(slots))


def write_description(program: Program, directory: str) -> None:
    """Keeps the description of a program in a directory."""
    text = json.dumps(describe(program).to_dict(), indent=1)
    with tf.io.gfile.GFile(os.path.join(directory, FILE_NAME), "w") as file:
        file.write(text)


def read_description(directory: str) -> Description | None:
    """The description kept in a directory, or None."""
    path = os.path.join(directory, FILE_NAME)
    if not tf.io.gfile.exists(path):
        return None
    with tf.io.gfile.GFile(path) as file:
        return Description.from_dict(json.loads(file.read()))


def _layers(catalogue: Catalogue, trainable: set[int]) -> tuple[LayerInfo, ...]:
    entries = list(catalogue.section("layers").values())
    found: dict[str, LayerInfo] = {}
    for call in catalogue.program.layers:
        calls = 1 + (found[call.name].calls if call.name in found else 0)
        mine = [entry for entry in entries if entry.call is not None and entry.call.name == call.name]
        found[call.name] = LayerInfo(
            call.name,
            call.kind,
            tuple(_info(entry) for entry in mine if "/input" not in entry.path[len(call.name) + 7 :]),
            tuple(_info(entry) for entry in mine if "/input" in entry.path[len(call.name) + 7 :]),
            _owned(call, trainable),
            calls,
        )
    return tuple(found.values())


def _owned(call: LayerCall, trainable: set[int]) -> tuple[WeightInfo, ...]:
    variables = [getattr(v, "value", v) if not hasattr(v, "op") else v for v in call.variables]
    return tuple(_weight(variable, trainable) for variable in variables if hasattr(variable, "op"))


def _weight(variable: Any, trainable: set[int]) -> WeightInfo:
    name = variable.op.name
    shape = tuple(int(size) for size in variable.shape)
    return WeightInfo(name, name.rpartition("/")[2], shape, variable.dtype.base_dtype.name, id(variable) in trainable)


def _infos(entries: dict[str, Entry]) -> tuple[ValueInfo, ...]:
    return tuple(_info(entry) for entry in entries.values())


def _info(entry: Entry) -> ValueInfo:
    shape = entry.tensor.shape
    sizes = None if shape.rank is None else tuple(shape.as_list())
    return ValueInfo(entry.path, sizes, entry.tensor.dtype.base_dtype.name)


def _values(data: list[dict[str, Any]]) -> tuple[ValueInfo, ...]:
    return tuple(
        ValueInfo(one["path"], None if one["shape"] is None else tuple(one["shape"]), one["dtype"]) for one in data
    )


def _weights(data: list[dict[str, Any]]) -> tuple[WeightInfo, ...]:
    return tuple(
        WeightInfo(one["name"], one["attribute"], tuple(one["shape"]), one["dtype"], one["trainable"]) for one in data
    )
