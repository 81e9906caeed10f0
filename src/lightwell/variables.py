"""Variables that are alike: TensorFlow builds the ops of the first one of a kind, those of the next are copied.

A variable is up to a dozen ops: its initial value, a handle, an assignment, a read. TensorFlow makes each of them in
Python, which takes more than half of the time of building a small model. Variables whose shape, type and initializer
are alike differ in their names and seeds only; so what was built for one is kept as a `_Pattern`, and imported in one
call for others: the same ops in the same order, with names and seeds as TensorFlow would give them.

Owns the patterns of the process. Takes what a variable creator is asked for; all that it does not know goes to
TensorFlow: initializers of the program's own, devices, constraints, conditionals, names that are taken.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell import _tf

v1 = tf.compat.v1
_INITIALIZERS = (
    *(v1.zeros_initializer, v1.ones_initializer, v1.constant_initializer),
    *(v1.random_uniform_initializer, v1.random_normal_initializer, v1.truncated_normal_initializer),
    *(v1.variance_scaling_initializer, v1.glorot_uniform_initializer, v1.glorot_normal_initializer),
)
_MOST_PATTERNS = 256
_LEFT_OUT = ("variable_def", "import_scope", "caching_device", "constraint", "expected_shape")
_PLAIN = (bool, int, enum.Enum, tf.DType, tf.TensorShape, type(None))


def variables_alike() -> Any:
    """A scope of the default graph in which variables are made of patterns where they can be."""
    return v1.variable_creator_scope(_make)


@dataclass(frozen=True)
class _Named:
    """A tensor, an op or a name, by what comes after the name of its variable."""

    kind: type
    rest: str

    def found(self, graph: tf.Graph, name: str) -> Any:
        return name + self.rest if self.kind is str else graph.as_graph_element(name + self.rest)


class _OfGraph:
    """Stands for what a variable has of its graph, under the same name."""


@dataclass(frozen=True, eq=False)
class _Pattern:
    """What the variables of a kind have in common.

    Attributes:
        name: of the variable that TensorFlow made.
        nodes: its ops, as a `GraphDef`.
        named: the attributes of its ops that hold its name, by the place of the op.
        scopes: names that its ops took beside their own, after that of the variable.
        variable_type: its class.
        attributes: what it consists of.
    """

    name: str
    nodes: Any
    named: tuple[tuple[int, str], ...]
    scopes: tuple[str, ...]
    variable_type: type
    attributes: Mapping[str, Any]

    def variable(self, graph: tf.Graph, name: str, seeds: tuple[Any, Any] | None) -> Any:
        """Another variable of the kind, with all its ops, in the default graph."""
        with tf.init_scope():  # where TensorFlow makes variables: nothing comes before their ops
            v1.import_graph_def(self._nodes_for(name, seeds), name="")
        for scope in self.scopes:
            graph.unique_name(name + scope)
        variable: Any = object.__new__(self.variable_type)
        for key, value in self.attributes.items():
            if isinstance(value, _Named):
                value = value.found(graph, name)
            vars(variable)[key] = getattr(graph, key) if value is _OfGraph else value
        return variable

    def _nodes_for(self, name: str, seeds: tuple[Any, Any] | None) -> Any:
        nodes, length = v1.GraphDef(), len(self.name)
        nodes.CopyFrom(self.nodes)
        for node in nodes.node:
            node.name = name + node.name[length:]
            for place, source in enumerate(node.input):
                node.input[place] = name + source[length:]
            if seeds is not None and "seed2" in node.attr:
                node.attr["seed"].i, node.attr["seed2"].i = (seed or 0 for seed in seeds)
        renamed = dict(zip(_forms(self.name), _forms(name), strict=True))
        for place, key in self.named:
            attribute = nodes.node[place].attr[key]
            if attribute.s:
                attribute.s = renamed[attribute.s]
            else:
                attribute.list.s[:] = [renamed[text] for text in attribute.list.s]
        return nodes


def _forms(name: str) -> list[bytes]:
    """How the name of a variable stands in attributes: as it is, as a scope, and as where to be."""
    return [form.encode() for form in (name, f"{name}/", f"loc:@{name}")]


_patterns: dict[Hashable, _Pattern | None] = {}


def _make(next_creator: Callable[..., Any], **asked: Any) -> Any:
    graph = v1.get_default_graph()
    kind = _kind_of(graph, asked)
    if kind is None:
        return next_creator(**asked)
    if kind in _patterns:
        pattern = _patterns[kind]
        return next_creator(**asked) if pattern is None else _made_of(pattern, graph, asked)
    before = len(graph.get_operations())
    variable = next_creator(**asked)
    if len(_patterns) >= _MOST_PATTERNS:
        _patterns.clear()
    _patterns[kind] = _pattern_of(variable, graph, asked["name"], graph.get_operations()[before:], _draws(asked))
    return variable


def _kind_of(graph: tf.Graph, asked: Mapping[str, Any]) -> Hashable:
    """What variables have in common that differ in names and seeds only; None for one that only TensorFlow can make."""
    value, name = asked.get("initial_value"), asked.get("name")
    if not isinstance(value, functools.partial) or type(value.func) not in _INITIALIZERS or not name:
        return None
    if any(asked.get(key) is not None for key in _LEFT_OUT) or not asked.get("validate_shape", True):
        return None
    if type(graph) is not tf.Graph or graph.get_name_scope() or not _tf.is_plain_here(graph):
        return None
    if graph.unique_name(name, mark_as_used=False) != name:
        return None
    rest = (key for key in asked if key not in ("initial_value", "name", "collections", *_LEFT_OUT))
    kind = (
        type(value.func),
        tuple(sorted(vars(value.func).items())),
        repr((value.args, value.keywords)),
        tuple((key, repr(asked[key])) for key in sorted(rest)),
    )
    try:
        hash(kind)
    except TypeError:  # an array of initial values
        return None
    return kind


def _draws(asked: Mapping[str, Any]) -> bool:
    return hasattr(asked["initial_value"].func, "seed")


def _made_of(pattern: _Pattern, graph: tf.Graph, asked: Mapping[str, Any]) -> Any:
    seeds = v1.get_seed(asked["initial_value"].func.seed) if _draws(asked) else None
    variable = pattern.variable(graph, asked["name"], seeds)
    keys = list(asked.get("collections") or [v1.GraphKeys.GLOBAL_VARIABLES])
    if variable.trainable and v1.GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(v1.GraphKeys.TRAINABLE_VARIABLES)
    graph.add_to_collections(keys, variable)
    return variable


def _pattern_of(variable: Any, graph: tf.Graph, name: str, ops: Sequence[tf.Operation], draws: bool) -> _Pattern | None:
    """What a variable that was just made is made of; None if something about it belongs to it alone."""
    nodes = v1.GraphDef(node=[op.node_def for op in ops], versions=graph.graph_def_versions)
    names = {op.name for op in ops}
    forms, named = _forms(name), []
    for place, (op, node) in enumerate(zip(ops, nodes.node, strict=True)):
        is_below = op.name == name or op.name.startswith(f"{name}/")
        is_alone = not op.device and not op.control_inputs and all(tensor.op.name in names for tensor in op.inputs)
        texts = {key: [*filter(None, [attribute.s]), *attribute.list.s] for key, attribute in node.attr.items()}
        named += [(place, key) for key, given in texts.items() if any(text in forms for text in given)]
        is_known = all(text in forms or forms[0] not in text for given in texts.values() for text in given)
        if not (is_below and is_alone and is_known):
            return None
    if sum("seed2" in node.attr for node in nodes.node) != draws:
        return None
    attributes = {key: _relative(value, getattr(graph, key, None), name) for key, value in vars(variable).items()}
    if any(value is NotImplemented for value in attributes.values()):
        return None
    parents = {one.rpartition("/")[0] for one in names if one != name} - names
    return _Pattern(
        name, nodes, tuple(named), tuple(sorted(one[len(name) :] for one in parents)), type(variable), attributes
    )


def _relative(value: Any, of_graph: Any, name: str) -> Any:
    """A part of a variable, as every variable of its kind has it; NotImplemented if that cannot be said."""
    if isinstance(value, tf.Tensor | tf.Operation | str):
        called = value if isinstance(value, str) else value.name
        if called == name or called.startswith((f"{name}/", f"{name}:")):
            return _Named(str if isinstance(value, str) else object, called[len(name) :])
        return _OfGraph if isinstance(value, str) and called == of_graph else NotImplemented
    return value if isinstance(value, _PLAIN) else NotImplemented
