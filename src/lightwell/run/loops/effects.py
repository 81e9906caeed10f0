"""What ops do beyond computing their outputs: which read a variable, which may write one, which do anything else.

Takes ops of a graph, and the functions that they call at any depth. Answers by lists of what is known to be harmless:
what is not on one of them may do anything.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Collection
from typing import Any

import tensorflow as tf

from lightwell.base.keys import HANDLE_ONLY_OPS, VALUE_READ_OPS
from lightwell.run.loops.fusible import functions_called, functions_of, nodes_within
from lightwell.run.loops.pure_ops import PURE_OPS
from lightwell.run.loops.step_copy import has_functions

# Ops that call functions with their inputs as arguments, and the place of the first argument among the inputs.
_FIRST_ARGUMENT = {
    **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile"), 0),
    **dict.fromkeys(("If", "StatelessIf", "Case", "StatelessCase"), 1),
}
# These hand a variable's handle on to the branches and loops of the older control flow.
_HANDS_ON = frozenset("Switch Enter Identity".split())
_HARMLESS = (
    PURE_OPS | VALUE_READ_OPS | HANDLE_ONLY_OPS - {"DestroyResourceOp"} | _FIRST_ARGUMENT.keys() | {"VarHandleOp"}
)


class Use(enum.IntEnum):
    """What an op does with a variable whose handle it takes, by increasing harm."""

    NONE = 0
    READ = 1
    HANDS_ON = 2
    WRITE = 3


class Effects:
    """Answers for the ops of one graph.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: tf.Graph) -> None:
        self._graph = graph
        self._in_functions: dict[tuple[str, int], Use] = {}

    def use(self, op: tf.Operation, place: int) -> Use:
        """What an op does with the variable whose handle is its input at `place`."""
        if op.type in _HANDS_ON:
            return Use.HANDS_ON
        return self._use(op.node_def if op.type in _FIRST_ARGUMENT else None, op.type, place)

    def may_act(self, op: tf.Operation) -> bool:
        """Whether an op may do more than to compute and to read variables."""
        return op.type not in _HARMLESS or not self._bodies_only_read(op)

    def only_reads(self, op: tf.Operation, allowed: Collection[str] = ()) -> bool:
        """Whether to run an op, with all that it waits for, does no more than to compute and to read variables.

        Args:
            op: the op.
            allowed: names of ops that may do anything, as they are run anyway.
        """
        seen: set[str] = set()
        left = [op]
        while left:
            current = left.pop()
            if current.name in seen or current.name in allowed:
                continue
            seen.add(current.name)
            if self.may_act(current):
                return False
            left += [*(tensor.op for tensor in current.inputs), *current.control_inputs]
        return True

    @functools.cached_property
    def _functions(self) -> dict[str, Any]:
        return functions_of(self._graph)

    def _bodies_only_read(self, op: tf.Operation) -> bool:
        if not has_functions(op):
            return True
        return all(
            node.op in _HARMLESS
            for name in functions_called(op.node_def)
            for node in nodes_within(self._functions, name)
        )

    def _use(self, node: Any, kind: str, place: int) -> Use:
        if kind in VALUE_READ_OPS:
            return Use.READ
        if kind in HANDLE_ONLY_OPS:
            return Use.NONE
        argument = place - _FIRST_ARGUMENT.get(kind, place + 1)
        if argument < 0:
            return Use.WRITE
        return max((self._use_in_function(name, argument) for name in functions_called(node)), default=Use.WRITE)

    def _use_in_function(self, name: str, argument: int) -> Use:
        """What a function does with the variable that is one of its arguments."""
        if (name, argument) not in self._in_functions:
            self._in_functions[name, argument] = Use.NONE  # where a function calls itself, the rest of it tells
            function = self._functions.get(name)
            if function is None:
                return Use.WRITE
            handle = function.signature.input_arg[argument].name
            uses = [
                self._use(node, node.op, place)
                for node in function.node_def
                for place, source in enumerate(node.input)
                if source == handle
            ]
            self._in_functions[name, argument] = max(uses, default=Use.NONE)
        return self._in_functions[name, argument]
