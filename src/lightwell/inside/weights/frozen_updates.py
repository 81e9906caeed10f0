"""Weights that a training step does not move, or moves by less: graph surgery before the graph is final.

Takes a built step and the share of its change that each variable keeps; gives the op to train with instead. It does not
depend on how the optimizer is written. An op that writes nothing but variables that stay is taken out of the step, and
with it all that is computed for it alone. What cannot be taken out, because one function of an optimizer writes many
variables, runs; then the variable gets its old value back, or the share of the way that it may go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import HANDLE_ONLY_OPS, OWN_SCOPE, VALUE_READ_OPS
from lightwell.foreign import private_tf
from lightwell.run.loops.step_copy import step_ops

# Ops that hand a variable on, into a branch or a loop, to those that write it.
_HAND_ON = frozenset(["Enter", "Identity", "Merge", "RefEnter", "RefIdentity", "RefMerge", "RefSwitch", "Switch"])
_READ_ONLY = "_read_only_resource_inputs"


def freeze_updates(graph: tf.Graph, train_op: Any, shares: Sequence[tuple[Any, float]]) -> Any:
    """The op to train with, in place of `train_op`.

    Args:
        graph: the graph, which must not be final.
        train_op: the op, or a tensor, that makes a step.
        shares: variables, each with the share of a step's change that it keeps: 0.0 for one that stays as it is. Of
            one that replicas have each for themselves, every part does.
    """
    frozen = {part.op.name: (part, share) for variable, share in shares for part in private_tf.parts_of(variable)}
    last = train_op.op if isinstance(train_op, tf.Tensor) else train_op
    writes = [(op, written) for op in step_ops([train_op])[0] if (written := _written(op, frozen))]
    cut = {op.name: op for op, _ in writes if op is not last and _can_be_cut(op, frozen)}
    if cut and not _take_out(graph, cut):
        cut = {}
    left = [(op, written) for op, written in writes if op.name not in cut]
    names = dict.fromkeys(name for _, written in left for name in written)
    if not names:
        return train_op
    with graph.as_default(), tf.control_dependencies(None), tf.name_scope(f"{OWN_SCOPE}held/"):
        before = {name: _value(frozen[name][0], is_copy=True) for name in names}
        for op, written in left:
            private_tf.add_control_inputs(op, [before[name].op for name in written])
        with tf.control_dependencies([last]):
            back = [_put_back(*frozen[name], before[name]) for name in names]
        return tf.group(last, *back)


def _written(op: tf.Operation, frozen: Mapping[str, Any]) -> list[str]:
    """The names of the frozen variables that an op may write, or passes to an op that may."""
    if op.type in VALUE_READ_OPS or op.type in HANDLE_ONLY_OPS:
        return []
    read_only = _read_only(op)
    names = []
    for place, tensor in enumerate(op.inputs):
        if (
            tensor.op.name in frozen
            and place not in read_only
            and (tensor.dtype == tf.resource or _takes_ref(op, place))
        ):
            names.append(tensor.op.name)
    return names


def _read_only(op: tf.Operation) -> Sequence[int]:
    """Which inputs of a call TensorFlow knows to be read only."""
    try:
        places: Sequence[int] = op.get_attr(_READ_ONLY)
    except ValueError:
        return ()
    return places


def _takes_ref(op: tf.Operation, place: int) -> bool:
    """Whether an op takes a variable of TensorFlow 1 by reference, not its value."""
    arguments = op.op_def.input_arg
    return bool(arguments[min(place, len(arguments) - 1)].is_ref)


def _can_be_cut(op: tf.Operation, frozen: Mapping[str, tuple[Any, float]]) -> bool:
    """Whether an op does nothing but write variables that stay."""
    if op.type in _HAND_ON or any(attr.type in ("func", "list(func)") for attr in op.op_def.attr):
        return False
    if any(output.consumers() for output in op.outputs):
        return False
    touched = [tensor.op.name for place, tensor in enumerate(op.inputs) if _is_variable(op, place, tensor)]
    return all(name in frozen and frozen[name][1] == 0.0 for name in touched)


def _is_variable(op: tf.Operation, place: int, tensor: Any) -> bool:
    return bool(tensor.dtype == tf.resource) or _takes_ref(op, place)


def _take_out(graph: tf.Graph, cut: Mapping[str, tf.Operation]) -> bool:
    """Lets no op wait for those in `cut`, but for what they waited for; says whether that can be done."""
    for op in graph.get_operations():
        waited = [one for one in op.control_inputs if one.name in cut]
        if waited and not private_tf.replace_control_inputs(op, waited, _behind(waited, cut)):
            return False
    return True


def _behind(ops: Iterable[tf.Operation], cut: Mapping[str, tf.Operation]) -> list[tf.Operation]:
    """The ops that removed ops waited for, without those that are removed too."""
    sources: dict[str, tf.Operation] = {}
    left, seen = list(ops), set()
    while left:
        op = left.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        for source in op.control_inputs:
            if source.name in cut:
                left.append(source)
            else:
                sources[source.name] = source
    return list(sources.values())


def _value(variable: Any, *, is_copy: bool = False) -> Any:
    """The value of a variable now; `is_copy`: unchanged by later writes of the variable."""
    if variable.op.type == "VarHandleOp":
        return variable.read_value()
    return tf.raw_ops.DeepCopy(x=variable) if is_copy else tf.identity(variable)


def _put_back(variable: Any, share: float, before: Any) -> tf.Operation:
    if share == 0.0 or not before.dtype.is_floating:
        value = before
    else:
        value = before + tf.cast(share, before.dtype) * (_value(variable) - before)
    return tf.group(tf.compat.v1.assign(variable, value))
