"""The ops between the features and the predictions of a program, classified for the conversion.

An op is part of a layer call that is converted as a whole, independent of the input, a variable, or an op to convert by
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.estimator.export.keras_model.tables import is_size_of_table
from lightwell.model.layers.record import LayerCall
from lightwell.run.engine.program import Program

_v1 = tf.compat.v1
VARIABLE_HANDLES = frozenset({"VarHandleOp"})
VARIABLE_VALUES = frozenset({"VariableV2", "Variable"})
READS = frozenset({"ReadVariableOp", "ResourceGather"})


@dataclass(frozen=True, eq=False)
class Route:
    """The ops from features to predictions.

    Attributes:
        steps: the ops to convert, in the order of the graph. The last op of a layer call represents the call.
        calls: the name of such an op to the call.
        fixed: names of ops whose outputs are the same for every input and all weights.
        variables: the name of a variable's op, to the variable.
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
    """Finds the ops between features and predictions.

    Args:
        program: the program, its layers' outputs marked.
        predictions: the last tensors.
        feeds: the first tensors.
        is_converted: whether a call becomes a layer of Keras; the ops of all others are converted.
    """
    starts = {tensor.op.name for tensor in feeds}
    ends = {tensor.op.name: call for call in program.layers for tensor in outputs_of(call)}
    calls: dict[str, LayerCall] = {}
    reached: dict[str, tf.Operation] = {}
    remaining = [tensor.op for tensor in predictions]
    while remaining:
        op = remaining.pop()
        if op.name in reached or op.name in starts:
            continue
        reached[op.name] = op
        call = ends.get(op.name)
        if call is not None and is_converted(call):
            calls[op.name] = call
            remaining += [tensor.op for tensor in inputs_of(call)]
        else:
            remaining += [tensor.op for tensor in op.inputs]
    in_order = tuple(op for op in program.graph.get_operations() if op.name in reached)
    return Route(in_order, calls, _fixed(in_order, calls), _variables(program.graph))


def outputs_of(call: LayerCall) -> list[tf.Tensor]:
    """The output tensors of a call, in order."""
    return [leaf for leaf in tf.nest.flatten(call.outputs) if isinstance(leaf, tf.Tensor)]


def inputs_of(call: LayerCall) -> list[tf.Tensor]:
    """The tensors among the arguments of a call."""
    return [leaf for leaf in tf.nest.flatten(call.arguments) if isinstance(leaf, tf.Tensor) and hasattr(leaf, "op")]


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
