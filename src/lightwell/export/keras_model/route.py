"""What stands between the features and the predictions of a program: layer calls, and the ops between them.

Takes a `Program` and says for each op on the way what it is: part of a call that is converted as a whole, the same for
every input, a variable, or an op that is converted by itself. Nothing is converted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.export.keras_model.tables import is_size_of_table
from lightwell.layers.record import LayerCall

_v1 = tf.compat.v1
VARIABLE_HANDLES = frozenset({"VarHandleOp"})
VARIABLE_VALUES = frozenset({"VariableV2", "Variable"})
READS = frozenset({"ReadVariableOp", "ResourceGather"})


@dataclass(frozen=True, eq=False)
class Route:
    """The way from features to predictions.

    Attributes:
        steps: the ops to convert, in the order in which they were made. An op that ends a layer call stands for it.
        calls: the name of such an op to the call.
        fixed: names of ops whose outputs are the same for every input and all weights.
        variables: the name of the op that stands for a variable, to the variable.
    """

    steps: tuple[tf.Operation, ...]
    calls: Mapping[str, LayerCall]
    fixed: frozenset[str]
    variables: Mapping[str, Any]


def route_of(
    program: Program,
    predictions: Iterable[tf.Tensor],
    feeds: Iterable[tf.Tensor],
    is_converted: Callable[[LayerCall], bool],
) -> Route:
    """Finds the way.

    Args:
        program: the program, its layers' outputs marked.
        predictions: where it ends.
        feeds: where it starts.
        is_converted: whether a call becomes a layer of Keras; the way leads through the ops of all others.
    """
    starts = {tensor.op.name for tensor in feeds}
    ends = {tensor.op.name: call for call in program.layers for tensor in outputs_of(call)}
    calls: dict[str, LayerCall] = {}
    found: dict[str, tf.Operation] = {}
    waiting = [tensor.op for tensor in predictions]
    while waiting:
        op = waiting.pop()
        if op.name in found or op.name in starts:
            continue
        found[op.name] = op
        call = ends.get(op.name)
        if call is not None and is_converted(call):
            calls[op.name] = call
            waiting += [tensor.op for tensor in inputs_of(call)]
        else:
            waiting += [tensor.op for tensor in op.inputs]
    in_order = tuple(op for op in program.graph.get_operations() if op.name in found)
    return Route(in_order, calls, _fixed(in_order, calls), _variables(program.graph))


def outputs_of(call: LayerCall) -> list[tf.Tensor]:
    """The tensors that a call gave, in order."""
    return [leaf for leaf in tf.nest.flatten(call.outputs) if isinstance(leaf, tf.Tensor)]


def inputs_of(call: LayerCall) -> list[tf.Tensor]:
    """The tensors that a call was given, anywhere among its arguments."""
    return [leaf for leaf in tf.nest.flatten(call.given) if isinstance(leaf, tf.Tensor) and hasattr(leaf, "op")]


def _fixed(in_order: Iterable[tf.Operation], calls: Mapping[str, LayerCall]) -> frozenset[str]:
    fixed: set[str] = set()
    for op in in_order:
        is_plain = op.name not in calls and not op.op_def.is_stateful and not op.type.startswith("Placeholder")
        if (is_plain and all(tensor.op.name in fixed for tensor in op.inputs)) or is_size_of_table(op):
            fixed.add(op.name)
    return frozenset(fixed)


def _variables(graph: tf.Graph) -> dict[str, Any]:
    keys = (_v1.GraphKeys.GLOBAL_VARIABLES, _v1.GraphKeys.LOCAL_VARIABLES)
    return {variable.op.name: variable for key in keys for variable in graph.get_collection(key)}
