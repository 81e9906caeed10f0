"""Copies the weights of a training session into another one, as a checkpoint in between would.

Takes two sessions; copies what the savers of their graphs would write and read under the same name. So names that a
saver of the user changes (moving averages in place of weights) mean the same as in a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.foreign import private_tf

_Key = tuple[bytes, bytes]
"""A name in a checkpoint, and the part of the value, where it is stored in parts."""


class LiveWeights:
    """The weights of an open session, as they are whenever they are copied.

    Args:
        session: a `tf.compat.v1.Session` whose graph has a saver.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._saved = _saved_tensors(session.graph)

    def copy_to(self, session: Any, saver: Any) -> None:
        """Assigns all that `saver` would restore; a variable that only `session` has gets its initial value.

        Raises:
            UsageError: the saver does not restore by name.
        """
        targets = dict(_restored_tensors(session.graph, saver))
        shared = [key for key in targets if key in self._saved]
        own = [key for key in targets if key not in self._saved]
        values = dict(zip(shared, self._session.run([self._saved[key] for key in shared]), strict=True))
        if own:
            values |= _initial_values(session, own)
        session.run(saver.saver_def.restore_op_name, {tensor: values[key] for key, tensor in targets.items()})


def restore_ops(graph: tf.Graph, saver: Any) -> list[tf.Operation]:
    """The ops with which a saver reads a checkpoint."""
    seen: set[str] = set()
    ops, left = [], [graph.get_operation_by_name(saver.saver_def.restore_op_name)]
    while left:
        op = left.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        if op.type == "RestoreV2":
            ops.append(op)
        left.extend([*op.control_inputs, *(tensor.op for tensor in op.inputs)])
    return ops


def _saved_tensors(graph: tf.Graph) -> dict[_Key, Any]:
    """What the savers of a graph write, by name; the last saver counts, which is the training's own."""
    tensors: dict[_Key, Any] = {}
    for op in graph.get_operations():
        if op.type == "SaveV2":
            tensors.update(zip(_keys(op), op.inputs[3:], strict=True))
    return tensors


def _restored_tensors(graph: tf.Graph, saver: Any) -> Iterator[tuple[_Key, Any]]:
    for op in restore_ops(graph, saver):
        yield from zip(_keys(op), op.outputs, strict=True)


def _keys(op: tf.Operation) -> list[_Key]:
    names, parts = (tf.get_static_value(tensor) for tensor in op.inputs[1:3])
    if names is None or parts is None:
        raise UsageError(
            "InMemoryEvaluator does not support custom saver: one of them computes the names that it saves under in "
            "the graph. Evaluate checkpoints instead, with estimator.evaluate."
        )
    return list(zip(names.tolist(), parts.tolist(), strict=True))


def _initial_values(session: Any, keys: list[_Key]) -> dict[_Key, Any]:
    saved = _saved_tensors(session.graph)
    variables = {
        private_tf.variable_name(variable): variable
        for variable in session.graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    }
    missing = [name.decode() for name, _ in keys if name.decode() not in variables]
    if missing:
        raise UsageError(
            f"InMemoryEvaluatorHook: the evaluation needs {', '.join(missing)}, which the training does not have and "
            "which is no variable that could be initialised. Build the same model in both modes."
        )
    session.run([variables[name.decode()].initializer for name, _ in keys])
    return dict(zip(keys, session.run([saved[key] for key in keys]), strict=True))
