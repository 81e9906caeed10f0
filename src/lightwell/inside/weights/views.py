"""`est.layers` and `est.weights`: a trained model's insides as mappings of NumPy values, read from a checkpoint.

They need neither `input_fn` nor a graph: the description in `model_dir` says which layer owns which variable. A
directory without one (trained by `tf.estimator`) is read by its variables' names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightwell.base.keys import GLOBAL_STEP
from lightwell.base.printable import printable
from lightwell.base.tables import Table
from lightwell.errors import PathError, UsageError
from lightwell.inside.paths.batch import over_all
from lightwell.inside.paths.describe import Description, LayerInfo, from_variables
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.on_disk import OnDisk, StoredValue
from lightwell.inside.paths.optimizer_state import split_names
from lightwell.inside.paths.patterns import is_glob, without_section
from lightwell.inside.paths.sections.base import Section
from lightwell.inside.paths.sections.layers import LAYERS
from lightwell.inside.paths.sections.variables import SLOTS, WEIGHTS
from lightwell.inside.paths.show import shape_text
from lightwell.inside.paths.stored_description import read_description
from lightwell.run.checkpoints.index import checked_path
from lightwell.run.checkpoints.reader import open_checkpoint, variable_value

Array = np.ndarray[Any, Any]


# The name of a section's values, and the attribute that has them.
_CALLED: dict[Section, tuple[str, str]] = {
    WEIGHTS: ("weight", "a weight: est.weights"),
    SLOTS: ("optimizer state", "optimizer state: est.weights.slots"),
}


class WeightsView(Mapping[str, Array]):
    """All weights of a checkpoint by name; optimizer state is in `.slots`.

    Assigning a value writes a new checkpoint, as `est.edit()` does: `est.weights["dense/kernel"] = array`. An array
    that was read is a copy, and changing it changes nothing else.

    Args:
        checkpoint: gives the checkpoint; called on each access, so that the newest is read.
        section: the kind of variable that is shown.
        change: writes a value to a path; None where nothing may be written.
    """

    def __init__(
        self,
        checkpoint: Callable[[], str],
        section: Section = WEIGHTS,
        change: Callable[[str, Any], None] | None = None,
    ) -> None:
        self._checkpoint = checkpoint
        self._section = section
        self._change = change

    @property
    def slots(self) -> WeightsView:
        """The optimizer's state, by name: `dense/kernel/Adam`."""
        return WeightsView(self._checkpoint, SLOTS, self._change)

    def at(self, checkpoint: Any) -> WeightsView:
        """The same weights in another checkpoint."""
        path = checked_path(checkpoint)
        return WeightsView(lambda: path, self._section)

    def __getitem__(self, name: str) -> Array:
        return variable_value(self._checkpoint(), self.variable(name))

    def __setitem__(self, name: str, value: Any) -> None:
        variable = self.variable(name)
        if self._change is None:
            raise UsageError(
                f"{variable!r} belongs to {self._checkpoint()}, and a checkpoint is never changed. Set it in the "
                f"model: est.weights[{variable!r}] = value writes a new one."
            )
        self._change(f"{self._section}/{variable}", value)

    def variable(self, name: str) -> str:
        """The name in the checkpoint of the one value that `name` means.

        Raises:
            PathError: there is none, or several; the text names the nearest.
        """
        known = self._stored(self._section)
        matches = self._section.resolve(f"{self._section}/{without_section(name, self._section)}", known)
        if len(matches) != 1 or is_glob(str(name)):
            raise self._unknown(name)
        return matches[0].variables[0]

    def __iter__(self) -> Iterator[str]:
        return (without_section(path, self._section) for path in self._stored(self._section))

    def __len__(self) -> int:
        return len(self._stored(self._section))

    def __repr__(self) -> str:
        shapes = open_checkpoint(self._checkpoint()).get_variable_to_shape_map()
        return Table((), ((name, shape_text(shapes[name])) for name in self)).text() or f"no {self._section}"

    def _stored(self, section: Section) -> dict[str, StoredValue]:
        names = split_names(open_checkpoint(self._checkpoint()).get_variable_to_shape_map())
        return {one.path: one for one in section.stored_values(OnDisk(Description(), *names))}

    def _unknown(self, name: Any) -> PathError:
        for section, (_, found_at) in _CALLED.items():
            plain = without_section(name, section)
            if section is not self._section and f"{section}/{plain}" in self._stored(section):
                return PathError(f"{name!r} is {found_at}[{plain!r}].")
        if without_section(name, self._section) == GLOBAL_STEP:
            return PathError(f"{name!r} is the step counter: est.get_variable_value({GLOBAL_STEP!r}).")
        what, instead = _CALLED[self._section][0], _instead(self._section, name, list(self))
        return PathError(f"There is no {what} {name!r} in {self._checkpoint()}. {instead}")


@dataclass(frozen=True, eq=False)
class LayerSource:
    """Where the values of layers come from.

    Attributes:
        checkpoint: gives the checkpoint; called on each access.
        read: the value of a variable, by its name.
        predict: `Estimator.predict`; None where the values cannot be run.
        change: writes a value to a path; None where nothing may be written.
    """

    checkpoint: Callable[[], str]
    read: Callable[[str], Array]
    predict: Callable[..., Any] | None = None
    change: Callable[[str, Any], None] | None = None


class LayerView:
    """One layer of a trained model.

    Its weights are attributes (`.kernel`, `.bias`, `.gamma`) and `.weights` has all of them by name, as NumPy arrays
    from the newest checkpoint. Assigning to one writes a new checkpoint, as `est.edit()` does:
    `est.layers["dense"].kernel = array`. An array that was read is a copy, and changing it changes nothing else.

    Args:
        info: what is known of the layer.
        source: where its values come from, and where changed ones go.
        call: the number of the call, where the layer is called several times.
    """

    def __init__(self, info: LayerInfo, source: LayerSource, call: int | None = None) -> None:
        self._info = info
        self._source = source
        self._call = call

    @property
    def name(self) -> str:
        """The layer's name."""
        return self._info.name

    @property
    def path(self) -> str:
        """The path of its output."""
        return self._info.path if self._call is None else f"{self._info.path}:{self._call}"

    @property
    def kind(self) -> str:
        """The layer's class, `Dense`; `?` where only a checkpoint is known."""
        return self._info.kind

    @property
    def weights(self) -> dict[str, Array]:
        """Its weights by attribute name."""
        return {weight.attribute: self._source.read(weight.name) for weight in self._info.weights}

    def at(self, checkpoint: Any) -> LayerView:
        """The same layer in another checkpoint."""
        path = checked_path(checkpoint)
        source = LayerSource(lambda: path, lambda name: variable_value(path, name), self._source.predict)
        return LayerView(self._info, source, self._call)

    def output(self, input_fn: Callable[..., Any]) -> Any:
        """What the layer gives for the data of `input_fn`.

        Returns:
            One array over all examples (a list with one for each of several outputs). A list with one value for each
            example where their shapes differ, and with one for each batch where the output is not made of examples:
            time comes first, or it is a scalar. Of a layer that is called several times, the first call's;
            `est.layers["shared:1"].output(...)` is the second's.
        """
        if self._source.predict is None:
            raise UsageError(f"layer {self.name!r}: what an edit changes can be run once the edit is written.")
        rows = self._source.predict(
            input_fn, predict_keys=[], checkpoint_path=self._source.checkpoint(), taps=[self.path]
        )
        parts = list(over_all(rows).values())
        return parts[0] if len(parts) == 1 else parts

    def __getattr__(self, attribute: str) -> Array:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return self._source.read(self._variable(attribute))

    def __setattr__(self, attribute: str, value: Any) -> None:
        if attribute.startswith("_"):
            super().__setattr__(attribute, value)
            return
        variable = self._variable(attribute)
        if self._source.change is None:
            raise AttributeError(
                f"layer {self.name!r}: {attribute!r} cannot be set in {self._source.checkpoint()}, a checkpoint is "
                f"never changed. Set it in the model: est.layers[{self.name!r}].{attribute} = value writes a new one."
            )
        self._source.change(f"{WEIGHTS}/{variable}", value)

    def _variable(self, attribute: str) -> str:
        for weight in self._info.weights:
            if weight.attribute == attribute:
                return weight.name
        owned = [weight.attribute for weight in self._info.weights]
        raise AttributeError(
            f"layer {self.name!r} ({self.kind}) has no weight {attribute!r}; it has {owned if owned else 'no weights'}."
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(weight.attribute for weight in self._info.weights)]

    def __repr__(self) -> str:
        owned = ", ".join(f"{weight.attribute} {list(weight.shape)}" for weight in self._info.weights)
        times = f" called {self._info.calls} times" if self._info.calls > 1 else ""
        return printable(f"<layer {self.path}: {self.kind}{times}{', ' + owned if owned else ''}>")


class LayersView(Mapping[str, LayerView]):
    """The layers of a trained model, by name; `"shared:1"` is the second call of a layer that is called several times.

    Args:
        directory: the `model_dir`, which has the description.
        source: where values come from, and where changed ones go.
    """

    def __init__(self, directory: str, source: LayerSource) -> None:
        self._directory = directory
        self._source = source

    def __getitem__(self, name: str) -> LayerView:
        plain = without_section(name, LAYERS)
        layers = {layer.name: layer for layer in self._description().layers}
        base, _, call = plain.rpartition(":")
        if base in layers and call.isdecimal() and int(call) < layers[base].calls:
            return LayerView(layers[base], self._source, int(call))
        if plain in layers:
            return LayerView(layers[plain], self._source)
        owner = next((layer for layer in layers.values() if any(w.name == plain for w in layer.weights)), None)
        if owner is not None:
            raise PathError(f"{name!r} is a weight of the layer {owner.name!r}: est.weights[{plain!r}].")
        raise PathError(f"There is no layer {name!r} in {self._directory}. {_instead(LAYERS, name, list(layers))}")

    def __iter__(self) -> Iterator[str]:
        return (layer.name for layer in self._description().layers)

    def __len__(self) -> int:
        return len(self._description().layers)

    def __repr__(self) -> str:
        return str(self._description())

    def _repr_html_(self) -> str:
        return self._description()._repr_html_()

    def _description(self) -> Description:
        description = read_description(self._directory)
        if description is not None:
            return description
        reader = open_checkpoint(self._source.checkpoint())
        return from_variables(reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map())


def _instead(section: Section, name: Any, names: list[str]) -> str:
    """What there is in place of a name that is not there."""
    known = [f"{section}/{one}" for one in names]
    close = nearest_paths(f"{section}/{without_section(name, section)}", known) if isinstance(name, str) else []
    close = [without_section(path, section) for path in close]
    return f"The nearest are {close[:5]}." if close else f"It has {names[:10]}{' …' if len(names) > 10 else ''}."
