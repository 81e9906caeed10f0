"""Telling an optimizer's state from a model's weights, and finding its learning rate, by looking at the graph.

Optimizers of every make end in ops whose inputs are named: `ResourceApplyAdam(var, m, v, …, lr, …, grad)`. That is the
public description of the op, so nothing of the optimizer object has to be known.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program

LEARNING_RATE_COLLECTION = "lightwell/learning_rate"
_RATE_NAMES = ("lr", "alpha")


def split_variables(graph: tf.Graph) -> tuple[list[Any], list[Any]]:
    """The saved variables of a graph as (weights, slots); the global step is neither.

    A slot lives under the name of the variable it serves (`dense/kernel/Adam`), or is an input of an update op that is
    no target of the training (`beta1_power`).
    """
    variables = graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    steps = {id(step) for step in graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_STEP)}
    variables = [variable for variable in variables if id(variable) not in steps]
    names = {variable.op.name for variable in variables}
    served = _non_targets(graph)
    slots = [v for v in variables if _serves_another(v.op.name, names) or v.op.name in served]
    weights = [v for v in variables if not any(v is slot for slot in slots)]
    return weights, slots


def split_names(names: list[str]) -> tuple[list[str], list[str]]:
    """The same by names alone, for a checkpoint without its graph."""
    known = set(names)
    slots = [n for n in names if _serves_another(n, known) or n in ("beta1_power", "beta2_power")]
    return [n for n in names if n not in slots and n != "global_step"], slots


def learning_rate_of(program: Program) -> Any:
    """The learning rate's tensor in a training program, or None where none can be told."""
    declared = program.graph.get_collection(LEARNING_RATE_COLLECTION)
    if declared:
        return declared[0]
    for op in program.graph.get_operations():
        if "Apply" not in op.type:
            continue
        for argument, tensor in zip(op.op_def.input_arg, op.inputs, strict=False):
            if argument.name in _RATE_NAMES:
                return tensor
    return None


def _serves_another(name: str, names: set[str]) -> bool:
    owner = name.rpartition("/")[0]
    while owner:
        if owner in names:
            return True
        owner = owner.rpartition("/")[0]
    return name.startswith("optimizer/")


def _non_targets(graph: tf.Graph) -> set[str]:
    """Names of variables that update ops read beside their target: powers of beta and the like."""
    found = set()
    for op in graph.get_operations():
        if not op.type.startswith("ResourceApply"):
            continue
        for argument, tensor in zip(op.op_def.input_arg, op.inputs, strict=False):
            if argument.name.endswith("_power") and tensor.op.type == "ReadVariableOp":
                found.add(tensor.op.inputs[0].op.name)
    return found
