"""What the graph itself knows by name: collections that `model_fn` filled, and every tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP_READ_COLLECTION, OWN_SCOPE
from lightwell.inside.paths.sections.base import AnyPathValue, Entry, Section, below, named_tensors, numbered

if TYPE_CHECKING:
    from lightwell.inside.paths.catalogue import Catalogue

_HANDLES = (tf.resource, tf.variant)  # types of what stands for something else and cannot be read


class Collections(Section):
    """Tensors that `model_fn` put into collections; variables in them have paths of their own."""

    name = "collections"
    also_called = ("collection",)
    absent = "model_fn put no tensors into graph collections."
    has_examples = True

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        graph = catalogue.program.graph
        tensors: dict[str, Any] = {}
        for name in graph.get_all_collection_keys():
            if isinstance(name, str) and not name.startswith("_") and name != GLOBAL_STEP_READ_COLLECTION:
                tensors.update(numbered(f"{self.name}/{name}", _tensors_in(graph.get_collection(name))))
        return named_tensors(self, tensors)

    def _resolve_loosely(self, path: str, known: Mapping[str, AnyPathValue]) -> list[AnyPathValue]:
        return below(path, known) if path == self.name else super()._resolve_loosely(path, known)


class Tensors(Section):
    """Any tensor of the graph, by TensorFlow's own name; `:0` may be left out."""

    name = "tensors"
    also_called = ("tensor",)
    has_examples = True
    is_mirror = True
    is_offered = False
    takes_bare_names = True

    def entries(self, catalogue: Catalogue) -> dict[str, Entry]:
        graph = catalogue.program.graph
        tensors = {}
        for op in graph.get_operations():
            for tensor in () if op.name.startswith(OWN_SCOPE) else op.outputs:
                if graph.is_fetchable(tensor) and tensor.dtype not in _HANDLES:
                    tensors[f"{self.name}/{tensor.name}"] = tensor
        return named_tensors(self, tensors)

    def _resolve_loosely(self, path: str, known: Mapping[str, AnyPathValue]) -> list[AnyPathValue]:
        return [known[f"{path}:0"]] if f"{path}:0" in known else []


def _tensors_in(members: list[Any]) -> list[Any]:
    """The tensors of a collection; variables have paths of their own, tables and iterators are no values."""
    tensors = [member for member in members if tf.is_tensor(member) and not isinstance(member, tf.Variable)]
    return [tensor for tensor in tensors if tensor.dtype not in _HANDLES]


COLLECTIONS, TENSORS = Collections(), Tensors()
