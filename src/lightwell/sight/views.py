"""`est.layers` and `est.weights`: a trained model's insides as mappings of NumPy values, read from a checkpoint.

They need neither `input_fn` nor a graph: the description in `model_dir` says which layer owns which variable. A
directory without one (trained by `tf.estimator`) is read by its variables' names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from lightwell.checkpoints.index import checked_path
from lightwell.checkpoints.reader import open_checkpoint, variable_value
from lightwell.errors import PathError
from lightwell.sight.describe import Description, LayerInfo, from_variables
from lightwell.sight.kept_description import read_description
from lightwell.sight.nearest import nearest_paths
from lightwell.sight.optimizer_state import split_names
from lightwell.sight.show import columns, shape_text

Array = np.ndarray[Any, Any]


class WeightsView(Mapping[str, Array]):
    """All weights of a checkpoint by name; optimizer state is kept apart, in `.slots`.

    Args:
        checkpoint: which checkpoint; called anew on each access, so that the newest is seen.
        slots: show the optimizer's state in place of the weights.
    """

    def __init__(self, checkpoint: Callable[[], str], slots: bool = False) -> None:
        self._checkpoint = checkpoint
        self._of_slots = slots

    @property
    def slots(self) -> WeightsView:
        """The optimizer's state, by name: `dense/kernel/Adam`."""
        return WeightsView(self._checkpoint, slots=True)

    def at(self, checkpoint: Any) -> WeightsView:
        """The same weights in another checkpoint, told by its path."""
        path = checked_path(checkpoint)
        return WeightsView(lambda: path, self._of_slots)

    def __getitem__(self, name: str) -> Array:
        plain = name.removeprefix("weights/").removeprefix("slots/")
        names = list(self)
        if plain not in names:
            close = nearest_paths(plain, names) or names
            raise PathError(f"There is no weight {name!r} in {self._checkpoint()}. The nearest are {close[:5]}.")
        return variable_value(self._checkpoint(), plain)

    def __iter__(self) -> Iterator[str]:
        known = sorted(open_checkpoint(self._checkpoint()).get_variable_to_shape_map())
        return iter(split_names(known)[1 if self._of_slots else 0])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        shapes = open_checkpoint(self._checkpoint()).get_variable_to_shape_map()
        return columns([(name, shape_text(shapes[name])) for name in self]) if len(self) else "no weights"


class LayerView:
    """One layer of a trained model.

    Its weights are attributes (`.kernel`, `.bias`, `.gamma`) and `.weights` has all of them by name, as NumPy arrays
    from the newest checkpoint.
    """

    def __init__(self, info: LayerInfo, checkpoint: Callable[[], str], run: Callable[[str, Any, Any], Any]) -> None:
        self._info = info
        self._checkpoint = checkpoint
        self._run = run

    @property
    def name(self) -> str:
        """The layer's name."""
        return self._info.name

    @property
    def path(self) -> str:
        """The path of its output."""
        return self._info.path

    @property
    def kind(self) -> str:
        """The layer's class, `Dense`; `?` where only a checkpoint is known."""
        return self._info.kind

    @property
    def weights(self) -> dict[str, Array]:
        """Its weights by attribute name."""
        return {weight.attribute: variable_value(self._checkpoint(), weight.name) for weight in self._info.weights}

    def at(self, checkpoint: Any) -> LayerView:
        """The same layer in another checkpoint, told by its path."""
        path = checked_path(checkpoint)
        return LayerView(self._info, lambda: path, self._run)

    def output(self, input_fn: Callable[..., Any]) -> Any:
        """What the layer gives for the data of `input_fn`: one array over all examples (a list for several outputs)."""
        return self._run(self.path, input_fn, self._checkpoint())

    def __getattr__(self, attribute: str) -> Array:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        for weight in self._info.weights:
            if weight.attribute == attribute:
                return variable_value(self._checkpoint(), weight.name)
        owned = [weight.attribute for weight in self._info.weights]
        raise AttributeError(
            f"layer {self.name!r} ({self.kind}) has no weight {attribute!r}; it has {owned if owned else 'no weights'}."
        )

    def __setattr__(self, attribute: str, value: Any) -> None:
        if not attribute.startswith("_"):
            raise AttributeError(
                f"layer {self.name!r}: {attribute!r} cannot be set. What a layer shows is read from a checkpoint, and "
                "setting it would change nothing there."
            )
        super().__setattr__(attribute, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(weight.attribute for weight in self._info.weights)]

    def __repr__(self) -> str:
        owned = ", ".join(f"{weight.attribute} {list(weight.shape)}" for weight in self._info.weights)
        return f"<layer {self.path}: {self.kind}{', ' + owned if owned else ''}>"


class LayersView(Mapping[str, LayerView]):
    """The layers of a trained model, by name."""

    def __init__(self, directory: str, checkpoint: Callable[[], str], run: Callable[[str, Any, Any], Any]) -> None:
        self._directory = directory
        self._checkpoint = checkpoint
        self._run = run

    def __getitem__(self, name: str) -> LayerView:
        plain = name.removeprefix("layers/")
        layers = {layer.name: layer for layer in self._description().layers}
        if plain not in layers:
            close = nearest_paths(plain, layers) or list(layers)
            raise PathError(f"There is no layer {name!r} in {self._directory}. The nearest are {close[:5]}.")
        return LayerView(layers[plain], self._checkpoint, self._run)

    def __iter__(self) -> Iterator[str]:
        return (layer.name for layer in self._description().layers)

    def __len__(self) -> int:
        return len(self._description().layers)

    def __repr__(self) -> str:
        return str(self._description())

    def _repr_html_(self) -> str:
        return self._description()._repr_html_()

    def _description(self) -> Description:
        kept = read_description(self._directory)
        if kept is not None:
            return kept
        reader = open_checkpoint(self._checkpoint())
        return from_variables(reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map())
