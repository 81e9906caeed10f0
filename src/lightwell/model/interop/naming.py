"""Names of Keras layers in one graph: readable, unique, the same in every mode and process.

Owns `LayerNames`. A layer gets its path at its first call on real tensors: the names of the layers around it joined by
`/`, below the name scope of the graph that the outermost one was called in. Variables are named after the path.
A layer created outside of `model_fn` and named by Keras has a number that depends on earlier layers of the program; it
gets a new number.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras, private_tf
from lightwell.model.layers.naming import snake_case

_v1 = tf.compat.v1


class LayerNames:
    """The paths of the layers in one graph.

    Args:
        graph: the graph.
        first: where a strategy builds several replicas, for all but the first the names of that one, whose variables
            they share.
    """

    def __init__(self, graph: tf.Graph, first: LayerNames | None = None) -> None:
        self.created_here: set[int] = set()
        self.variables: set[str] = set() if first is None else first.variables
        self._first = first
        self._variable_names: dict[str, list[str]] = {}  # requested name -> unique names
        self._graph = graph
        self._layers: dict[int, tuple[Any, str]] = {}  # the reference keeps the id unique
        self._taken: set[str] = set()
        self._lock = threading.RLock()

    def path_of(self, layer: Any, parent: Any = None) -> str:
        """The layer's path; `parent` is the layer that calls it, None for an outermost call."""
        known = self._layers.get(id(layer))
        if known is not None:
            return known[1]
        with self._lock:
            path = self._below(parent, layer) if parent is not None else self._outermost(layer)
            self._taken.add(path)
            self._layers[id(layer)] = (layer, path)
        return path

    def name_siblings(self, layers: Iterable[Any]) -> None:
        """Sets the paths of the layers of one model before any is called: their own names, without the model's."""
        layers = list(layers)
        names = sibling_names(layers)
        with self._lock:
            for layer in layers:
                path = _first_free(names[layer.name], self._taken.__contains__)
                self._taken.add(path)
                self._layers[id(layer)] = (layer, path)

    def unique_variable(self, name: str) -> str:
        """`name`, numbered if an operation of the graph has it already; the name is taken from now on."""
        names = self._variable_names.setdefault(name, [])
        if self._first is None:
            names.append(_first_free(name, self._is_operation))
            self.variables.add(names[-1])
        else:
            names.append(self._first._variable_names[name][len(names)])
        return names[-1]

    def _outermost(self, layer: Any) -> str:
        scope, name = self._scope(), self._own_name(layer)
        if scope == _v1.get_variable_scope().name:
            name = self._reserve_variable_scope(name)
        return _first_free(f"{scope}/{name}" if scope else name, self._is_taken_at_the_top)

    def _below(self, parent: Any, layer: Any) -> str:
        """Below the parent; where Keras built the two together, with what it put between them."""
        between = private_keras.keras_path(layer).rpartition("/")[0].removeprefix(private_keras.keras_path(parent))
        if not between.startswith("/"):
            between = ""
        path = f"{self.path_of(parent)}{between}/{self._own_name(layer)}"
        return _first_free(path, self._taken.__contains__)

    def _own_name(self, layer: Any) -> str:
        counts_on = id(layer) not in self.created_here or not private_keras.can_restart_counters()
        return _kind(layer) if _is_automatic(layer) and counts_on else private_keras.chosen_name(layer)

    def _scope(self) -> str:
        if _v1.get_default_graph() is not self._graph:  # inside a function's graph, whose scopes are TensorFlow's own
            return ""
        scope = str(tf.get_current_name_scope())
        return scope if self._first is None else re.sub(r"^replica_\d+(/|$)", "", scope)

    @staticmethod
    def _reserve_variable_scope(name: str) -> str:
        """Opens a variable scope, as functional layers do, so that both kinds of layers share one numbering."""
        with _v1.variable_scope(None, default_name=name, auxiliary_name_scope=False) as scope:
            opened = str(scope.name).rpartition("/")[2]
        if opened == name or _unnumbered(name) == name:
            return opened
        with _v1.variable_scope(None, default_name=_unnumbered(name), auxiliary_name_scope=False) as scope:
            return str(scope.name).rpartition("/")[2]

    def _is_taken_at_the_top(self, path: str) -> bool:
        """Whether a layer, or a variable of another kind of layer, has the path."""
        if path in self._taken:
            return True
        names = (
            private_tf.variable_name(variable)
            for variable in self._graph.get_collection(_v1.GraphKeys.GLOBAL_VARIABLES)
        )
        return any(name.startswith(f"{path}/") and name not in self.variables for name in names)

    def _is_operation(self, name: str) -> bool:
        try:
            self._graph.get_operation_by_name(name)
        except KeyError:
            return False
        return True


def sibling_names(layers: Iterable[Any]) -> dict[str, str]:
    """Keras name -> name of each layer of one model; automatic names are renumbered in the order of Keras' numbers.

    TensorFlow 2.15 did not use the order of the calls either, so that two branches find their own weights.
    """
    names: dict[str, str] = {}
    for layer in sorted(layers, key=_count_in_keras):
        name = _kind(layer) if _is_automatic(layer) else str(layer.name)
        names[layer.name] = _first_free(name, list(names.values()).__contains__)
    return names


def _kind(layer: Any) -> str:
    return snake_case(type(layer).__name__)


def _is_automatic(layer: Any) -> bool:
    """Whether the name is the default of Keras."""
    return bool(re.fullmatch(rf"{re.escape(_kind(layer))}(_\d+)?", layer.name))


def _count_in_keras(layer: Any) -> int:
    """The number in the layer's automatic name; -1 for a name that the user set."""
    if not _is_automatic(layer):
        return -1
    return int(layer.name.removeprefix(_kind(layer)).lstrip("_") or 0)


def _unnumbered(name: str) -> str:
    return re.sub(r"_\d+$", "", name)


def _first_free(name: str, is_taken: Any) -> str:
    """`name`, or with the next free number behind its last part: `a/dense_1` becomes `a/dense_2`."""
    if not is_taken(name):
        return name
    base, number = _unnumbered(name), 1
    while is_taken(f"{base}_{number}"):
        number += 1
    return f"{base}_{number}"
