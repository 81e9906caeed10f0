"""Layers: what each call of a layer gave (`layers/dense`), and what it was called with (`layers/dense/input`)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lightwell.inside.paths.on_disk import OnDisk, StoredValue
from lightwell.inside.paths.patterns import layer_name, matches
from lightwell.inside.paths.sections.base import Entry, Section, numbered

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue


class Layers(Section):
    """The calls in the book of layers. A layer that is called once has its name; one of several calls a number."""

    name = "layers"
    also_called = ("activation", "activations", "layer")
    absent = "model_fn called no layers."
    has_examples = True
    is_by_replica = True
    takes_bare_names = True
    is_stored = True

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        calls = list(catalogue.program.layers)
        calls_of = Counter(call.name for call in calls)
        entries: dict[str, Entry] = {}
        for call in calls:
            base = f"{self.name}/{call.name}" + (f":{call.call}" if calls_of[call.name] > 1 else "")
            for path, tensor in numbered(base, call.outputs):
                entries.setdefault(path, Entry(path, self, tensor, call))
            for path, tensor in numbered(f"{base}/input", call.inputs):
                entries.setdefault(path, Entry(path, self, tensor, call, is_input=True))
        return entries

    def stored_values(self, on_disk: OnDisk) -> list[StoredValue]:
        return [
            StoredValue(layer.path, layer=layer, variables=tuple(weight.name for weight in layer.weights))
            for layer in on_disk.description.layers
        ]

    def why_missing(self, path: str, catalogue: Catalogue) -> str:
        """A layer that is called where no session can reach has no path; the book says why: `is built inside …`."""
        name = layer_name(path, self)
        for hidden, reason in getattr(catalogue.program.layers, "hidden", ()):
            if matches(hidden, name):
                return f"the layer {hidden!r} {reason}."
        return ""


LAYERS = Layers()
