"""Telling an optimizer's state from a model's weights, and finding its learning rate, by looking at the graph.

Optimizers of every make end in ops whose inputs are named: `ResourceApplyAdam(var, m, v, …, lr, …, grad)`. That is the
public description of the op, so nothing of the optimizer object has to be known.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import Any

import tensorflow as tf

from lightwell.base.keys import LEARNING_RATE_COLLECTION, OPTIMIZER_SCOPE, TRAINING_SCOPES
from lightwell.foreign import private_tf
from lightwell.run.engine.program import Program

_RATE_NAMES = ("lr", "alpha")
_POWERS = ("beta1_power", "beta2_power")
_OF_CANNED = re.compile(f"^{TRAINING_SCOPES}/[^/]+/")  # `training/Adagrad/` before the name of a weight
_SAME_VALUE = frozenset(["Cast", "Identity"])  # an op between a rate and its use that does not change it


def split_variables(graph: tf.Graph) -> tuple[list[Any], list[Any]]:
    """The saved variables of a graph as (weights, slots); the global step is neither.

    A slot is not trained, and lives under the name of the variable it serves (`dense/kernel/Adam`), under the scope
    of a Keras optimizer or of one of a canned model, or is an input of an update op that is no target of the training
    (`beta1_power`).
    """
    variables = graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    steps = {id(step) for step in graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_STEP)}
    trained = {id(one) for one in graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)}
    variables = [variable for variable in variables if id(variable) not in steps]
    names = {private_tf.variable_name(variable) for variable in variables}
    powers = _powers(graph)
    slots: list[Any] = []
    weights: list[Any] = []
    for variable in variables:
        name = private_tf.variable_name(variable)
        is_slot = id(variable) not in trained and (_serves_another(name, names) or name in powers)
        (slots if is_slot else weights).append(variable)
    return weights, slots


def split_names(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The same by names alone, for a checkpoint without its graph."""
    known = set(names)
    slots = {name for name in known if _serves_another(name, known) or name.rpartition("/")[2] in _POWERS}
    weights = sorted(name for name in known if name not in slots and name != "global_step")
    return weights, sorted(slots)


def weight_served_by(name: str, weights: Container[str], *, in_any_scope: bool = False) -> str | None:
    """The weight whose state a variable holds; None if it serves none, or all of them.

    The state of a weight is below its name: `dense/kernel/Adam`. An optimizer may put its own scope before that:
    `training/Adagrad/dense/kernel/m` of a canned model, `Adam/dense/kernel/m` of an optimizer that a user wrote.

    Args:
        name: the variable.
        weights: the names of the weights.
        in_any_scope: whether up to two scopes of any name may come first, rather than those of canned models alone.
    """
    starts = [name, _OF_CANNED.sub("", name)]
    if in_any_scope:
        starts += [name.split("/", count)[-1] for count in (1, 2)]
    for owner in dict.fromkeys(starts):
        while owner := owner.rpartition("/")[0]:
            weight = next((one for one in (owner, _without_scope(owner)) if one in weights), None)
            if weight is not None:
                return weight
    return None


def learning_rates(program: Program) -> dict[str, Any]:
    """The learning rates of a training program: path to tensor.

    One rate is `learning_rate`; where several optimizers have rates of their own, each is
    `learning_rate/<optimizer>`, by the name of the optimizer's scope.
    """
    scoped_rates: dict[int, tuple[str, Any]] = {}
    for declared in program.graph.get_collection(LEARNING_RATE_COLLECTION):
        rate = _origin(declared)
        scoped_rates.setdefault(id(rate), (_scope(declared.op.name.rpartition("/")[0] or declared.op.name), rate))
    for op in _update_ops(program.graph):
        for argument, tensor in zip(op.op_def.input_arg, op.inputs, strict=False):
            if argument.name in _RATE_NAMES:
                rate = _origin(tensor)
                scoped_rates.setdefault(id(rate), (_scope(op.name), rate))
    if len(scoped_rates) == 1:
        return {"learning_rate": next(iter(scoped_rates.values()))[1]}
    rates: dict[str, Any] = {}
    for scope, rate in scoped_rates.values():
        path = f"learning_rate/{scope}"
        rates[path if path not in rates else f"{path}_{len(rates)}"] = rate
    return rates


def _update_ops(graph: tf.Graph) -> Iterator[Any]:
    return (op for op in graph.get_operations() if "Apply" in op.type and not op.name.startswith("lightwell/"))


def _origin(tensor: Any) -> Any:
    """The rate before casts to the types of variables."""
    while tensor.op.type in _SAME_VALUE:
        tensor = tensor.op.inputs[0]
    return tensor


def _scope(op_name: str) -> str:
    """`Adam` of `Adam/update_dense/kernel/ResourceApplyAdam`."""
    return op_name.partition("/update")[0].rpartition("/")[2]


def _serves_another(name: str, names: set[str]) -> bool:
    if weight_served_by(name, names) is not None:
        return True
    return name.startswith(OPTIMIZER_SCOPE) or bool(re.match(f"{TRAINING_SCOPES}/", name))


def _without_scope(name: str) -> str:
    """`linear/model/weights` of `linear/linear/model/weights`: an optimizer called inside the scope of its model."""
    scope, _, rest = name.partition("/")
    return rest if rest.startswith(f"{scope}/") else name


def _powers(graph: tf.Graph) -> set[str]:
    """Names of the variables that update ops read beside their target: powers of beta and the like."""
    names = set()
    for op in _update_ops(graph):
        for argument, tensor in zip(op.op_def.input_arg, op.inputs, strict=False):
            if argument.name.endswith("_power") and tensor.op.type in ("ReadVariableOp", "Identity"):
                names.add(tensor.op.inputs[0].op.name)
    return names
