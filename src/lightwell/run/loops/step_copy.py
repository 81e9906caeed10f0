"""The copy of a step that runs inside a loop: graph surgery on `NodeDef`s.

Takes the ops that a step runs; gives a `StepCopy`, to which the loop's own nodes are added, and which is then imported
into the same graph in one go. What lasts between steps (variables, iterators, tables, placeholders, big constants)
stays outside and is led in; all else is copied.

The loop consists of TensorFlow's loop primitives (`Enter`, `Merge`, `Switch`, `NextIteration`, `Exit`), which its
executor runs directly, whichever style of control flow the program uses. A compiler takes functions instead: a
`StepFunction` is the same copy without the loop, to be imported into the body of one.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import FUSED_SCOPE

HOST = "/device:CPU:0"
Edges = Sequence[tuple[str, str]]
"""Names of ops: the first of each pair runs before the second."""
_OUTER = "outer/"
_STEP = "step/"
_MOST_BYTES_COPIED = 4096
_LOWERED = "_lower_using_switch_merge"  # turns a loop of functions into a loop of primitives


class _Copy:
    """The nodes of a step under other names, and what is led in to them from outside."""

    def __init__(
        self, graph: tf.Graph, scope: str, inside: Sequence[Any], outside: Sequence[Any], order: Edges
    ) -> None:
        self._graph = graph
        self._scope = scope
        self._nodes = tf.compat.v1.GraphDef(versions=graph.graph_def_versions)
        self._copied = frozenset(op.name for op in inside)
        self._outside = frozenset(op.name for op in outside)
        self._inputs: dict[str, Any] = {}
        self._first: dict[str, list[str]] = {}
        self._completed: dict[str, list[str]] = {}
        for first, second in order:
            if first in self._copied and second in self._copied:
                self._first.setdefault(second, []).append(first)

    def name(self, name: str) -> str:
        """The full name of a node that is added."""
        return self._scope + name

    def copied(self, tensor: Any) -> str:
        """The name of a tensor of the model in the copy."""
        return self._inside(tensor.op.name, tensor.value_index)

    def _add_copy(self, op: tf.Operation) -> tuple[Any, bool]:
        """Adds the copy of an op of the model; says whether anything that it waits for is copied too."""
        original = op.node_def
        copy = self._nodes.node.add()
        copy.CopyFrom(original)
        copy.name = self.name(_STEP + original.name)
        copy.ClearField("input")
        follows = False
        for source in original.input:
            name, _, index = source.removeprefix("^").partition(":")
            follows = follows or name not in self._outside
            if not source.startswith("^"):
                copy.input.append(self._inside(name, int(index or 0)))
            elif name not in self._outside:
                copy.input.append(f"^{self.name(_STEP + name)}")
        for first in self._first.get(original.name, ()):
            copy.input.extend(f"^{name}" for name in self._completions(first))
        return copy, follows

    def _completions(self, op_name: str) -> list[str]:
        """The names of nodes that have run only when the copy of an op has: see `completion_outputs`."""
        if op_name not in self._completed:
            outputs = completion_outputs(self._graph.get_operation_by_name(op_name))
            self._completed[op_name] = [self._identity_of(tensor) for tensor in outputs] or [self.name(_STEP + op_name)]
        return self._completed[op_name]

    def _identity_of(self, tensor: Any) -> str:
        name = self.name(f"order/{tensor.name.replace(':', '_')}")
        node = self._nodes.node.add(name=name, op="Identity", device=tensor.op.device)
        node.input.append(self.copied(tensor))
        _set_attribute(node.attr["T"], tensor.dtype)
        return name

    def _inside(self, op_name: str, index: int) -> str:
        if op_name in self._outside:
            return self.enter(self._graph.get_tensor_by_name(f"{op_name}:{index}"))
        return self.name(f"{_STEP}{op_name}") + (f":{index}" if index else "")

    def enter(self, tensor: Any) -> str:
        """Leads a tensor in from outside."""
        key = _OUTER + tensor.name
        self._inputs[key] = tensor
        return key


class StepFunction(_Copy):
    """A step to be imported into the body of a function.

    Args:
        graph: the graph of the step.
        targets: ops and tensors; all that they depend on is the step.
        excluded: names of ops that are not part of it; their tensors are arguments of the function.
        library: the functions that the step calls, with all that they call.
        order: which of its ops runs before which other, beyond what the graph says.
    """

    def __init__(
        self,
        graph: tf.Graph,
        targets: Sequence[Any],
        excluded: Container[str],
        library: Sequence[Any],
        order: Edges,
    ) -> None:
        inside, outside = step_ops(targets, excluded)
        super().__init__(graph, "", inside, outside, order)
        for op in inside:
            copy, _ = self._add_copy(op)
            copy.device = ""
            for attribute in ("_class", _LOWERED):
                if attribute in copy.attr:
                    del copy.attr[attribute]
        self._nodes.library.function.extend(library)
        for function in self._nodes.library.function:
            for node in function.node_def:
                if _LOWERED in node.attr:
                    del node.attr[_LOWERED]

    def add_to_function(self, targets: Sequence[Any], arguments: dict[str, Any]) -> list[Any]:
        """Imports the step into the function that is being built; returns the copies of `targets`.

        Args:
            targets: ops and tensors of the step.
            arguments: by name, the arguments in place of tensors of excluded ops.
        """
        names = [self._output(one) for one in targets]
        inputs = {
            key: arguments[tensor.name] if tensor.name in arguments else tf.raw_ops.Identity(input=tensor)
            for key, tensor in self._inputs.items()
        }
        read = {source for node in self._nodes.node for source in node.input}
        mapped = {
            key: value for key, value in inputs.items() if key in read
        }  # an input that is an output unchanged is not read
        imported = tf.compat.v1.import_graph_def(self._nodes, mapped, [one for one in names if one not in inputs], "")
        copies = iter(imported)
        return [inputs[one] if one in inputs else next(copies) for one in names]

    def _output(self, element: Any) -> str:
        if not isinstance(element, tf.Tensor):
            return self.name(_STEP + element.name)
        name = self.copied(element)
        return name if ":" in name else f"{name}:0"


class StepCopy(_Copy):
    """A graph under construction: the copied step, and the nodes of the loop around it.

    Args:
        graph: the graph of the step, which gets the copy too.
        targets: ops and tensors; all that they depend on is the step.
        scope: where the names of all nodes begin.
        excluded: names of ops that are not part of it, and that it does not wait for.
        order: which of its ops runs before which other, beyond what the graph says.
    """

    PIVOT = "pivot"
    CONDITION = "condition"

    def __init__(
        self,
        graph: tf.Graph,
        targets: Sequence[Any],
        scope: str = FUSED_SCOPE,
        excluded: Container[str] = (),
        order: Edges = (),
    ) -> None:
        inside, outside = step_ops(targets, excluded)
        super().__init__(graph, scope, inside, outside, order)
        self._entered: dict[str, str] = {}
        self._nothing: dict[Any, Any] = {}
        self._within_loops = within_loops(inside)
        for op in inside:
            self._add_op(op)

    @property
    def feedable(self) -> frozenset[str]:
        """Names of the placeholders that the step reads from outside."""
        tensors = self._inputs.values()
        return frozenset(tensor.name for tensor in tensors if tensor.op.type.startswith("Placeholder"))

    def node(self, name: str, kind: str, inputs: Sequence[str], *, device: str = HOST, **attributes: Any) -> str:
        """Adds a node of the loop itself, which is run by the host unless said otherwise; returns its full name."""
        node = self._nodes.node.add(name=self.name(name), op=kind, device=device)
        node.input.extend(inputs)
        for key, value in attributes.items():
            _set_attribute(node.attr[key], value)
        return node.name

    def constant(self, name: str, value: Any, dtype: Any, after: Sequence[str] = ()) -> str:
        """Adds a constant, created in each step once the nodes `after` (full names) have run."""
        waits_for = [f"^{node}" for node in after or (self.name(self.PIVOT),)]
        name = self.node(name, "Const", waits_for, dtype=dtype)
        self._nodes.node[-1].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, dtype))
        return name

    def enter(self, tensor: Any, *, constant: bool = True, name: str | None = None) -> str:
        """Leads a tensor from outside into the loop."""
        key = super().enter(tensor)
        if constant and key in self._entered:
            return self._entered[key]
        inside = self.node(
            name or f"enter/{tensor.name.replace(':', '_')}",
            "Enter",
            [key],
            device=tensor.op.device,
            T=tensor.dtype,
            frame_name=self._scope,
            is_constant=constant,
            parallel_iterations=1,
        )
        if constant:
            self._entered[key] = inside
        return inside

    def copied_op(self, op: Any) -> str:
        """The name, inside the loop, of an op of the model, or of the op that makes a tensor."""
        op = op.op if isinstance(op, tf.Tensor) else op
        return self.name(self.PIVOT if op.name in self._outside else _STEP + op.name)

    def is_copied(self, tensor: Any) -> bool:
        """Whether a tensor of the model is computed in the loop, rather than led in to it."""
        return tensor.op.name in self._copied

    def last_value(self, name: str, inside: str, dtype: Any) -> str:
        """Adds a variable of the loop that holds the node `inside` of the last step; returns its output at the end."""
        return self._variable(name, self._nothing_of(dtype), lambda before: inside)

    def all_values(self, name: str, empty: Any, tensor: Any, saved: Any) -> str:
        """Adds a list that gets a tensor of the model from every step; returns its output at the end.

        Args:
            name: for its nodes.
            empty: the list to start from, outside of the loop.
            tensor: the tensor.
            saved: a resource that holds the list also where a later step fails.
        """

        def longer(before: str) -> str:
            pushed = self.node(
                f"{name}/longer", "TensorListPushBack", [before, self.copied(tensor)], element_dtype=tensor.dtype
            )
            saving = self.node(f"{name}/keep", "AssignVariableOp", [self.enter(saved), pushed], dtype=tf.variant)
            return self.node(f"{name}/kept", "Identity", [pushed, f"^{saving}"], T=tf.variant)

        return self._variable(name, empty, longer)

    def add_to_graph(self, output_names: Sequence[str]) -> list[Any]:
        """Imports all nodes into the graph; returns the tensors named in `output_names`."""
        with self._graph.as_default():
            return tf.compat.v1.import_graph_def(self._nodes, self._inputs, list(output_names), name="")

    def _variable(self, name: str, first: Any, following: Callable[[str], str]) -> str:
        """A variable of the loop: starts as the tensor `first`, and goes on with the node that `following` makes of its
        value before the step."""
        dtype = first.dtype
        entered = self.enter(first, constant=False, name=f"{name}/first")
        merge = self.node(f"{name}/merge", "Merge", [entered, self.name(f"{name}/next")], T=dtype, N=2)
        switch = self.node(f"{name}/switch", "Switch", [merge, self.name(self.CONDITION)], T=dtype)
        self.node(f"{name}/next", "NextIteration", [following(f"{switch}:1")], T=dtype)
        return f"{self.node(f'{name}/exit', 'Exit', [switch], T=dtype)}:0"

    def _add_op(self, op: tf.Operation) -> None:
        """Adds the copy of an op of the model."""
        copy, follows_the_loop = self._add_copy(op)
        acts = (op.op_def.is_stateful or has_functions(op)) and op.name not in self._within_loops
        if not follows_the_loop or acts:
            # What comes from outside is there also in the round that only finds that the loop is over: without this,
            # that round would take a batch nobody trains on. And TensorFlow puts the body of a function in the place of
            # its call: what in there needs nothing of the arguments (a random op of fixed size) waits for this too.
            copy.input.append(f"^{self.name(self.PIVOT)}")
        self._colocate(copy)

    def _nothing_of(self, dtype: Any) -> Any:
        """A tensor outside the loop that a loop variable of this type can start from."""
        if dtype not in self._nothing:
            with self._graph.as_default(), tf.name_scope(self._scope), tf.device(HOST):
                self._nothing[dtype] = tf.zeros([0], dtype)
        return self._nothing[dtype]

    def _colocate(self, copy: Any) -> None:
        """Keeps colocation among copies. Ops with a resource follow it to its device without it."""
        if "_class" not in copy.attr:
            return
        groups = [group.decode().removeprefix("loc:@") for group in copy.attr["_class"].list.s]
        within = [f"loc:@{self.name(_STEP + group)}".encode() for group in groups if group in self._copied]
        if within:
            copy.attr["_class"].list.s[:] = within
        else:
            del copy.attr["_class"]


def step_ops(targets: Sequence[Any], excluded: Container[str] = ()) -> tuple[list[tf.Operation], list[tf.Operation]]:
    """The ops that `targets` depend on: those that run in each step, and those that last between steps.

    Ops whose names are `excluded` count as the latter.
    """
    inside: dict[str, tf.Operation] = {}
    outside: dict[str, tf.Operation] = {}
    left = [target.op if isinstance(target, tf.Tensor) else target for target in targets]
    while left:
        op = left.pop()
        if op.name in inside or op.name in outside:
            continue
        if op.name in excluded or lasts_between_steps(op):
            outside[op.name] = op
            continue
        inside[op.name] = op
        left.extend(tensor.op for tensor in op.inputs)
        left.extend(op.control_inputs)
    return list(inside.values()), list(outside.values())


def lasts_between_steps(op: tf.Operation) -> bool:
    """Whether an op's outputs are the same in every step of a run: resources, placeholders, big constants."""
    if op.type in ("Placeholder", "PlaceholderV2"):
        return True
    if op.type == "PlaceholderWithDefault":
        return op.inputs[0].op.type == "Const"
    if op.type == "Const":
        return op.outputs[0].dtype != tf.resource and op.node_def.ByteSize() > _MOST_BYTES_COPIED
    if not op.outputs or not all(tensor.dtype == tf.resource for tensor in op.outputs):
        return False
    # A table that takes constants, such as its empty key, is a resource of its own name, too.
    return all(tensor.op.type == "Const" for tensor in op.inputs)


def within_loops(ops: Sequence[tf.Operation]) -> frozenset[str]:
    """Names of the ops inside loops of the step's own that consist of the same primitives. They run when their loop
    does; an edge from around it to one of them would be none that TensorFlow allows."""
    users: dict[str, list[tf.Operation]] = {}
    for op in ops:
        for source in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            users.setdefault(source.name, []).append(op)
    depths: dict[str, int] = {}
    left = [(op, 0) for op in ops if op.type in ("Enter", "RefEnter")]
    while left:
        op, depth = left.pop()
        depth += {"Enter": 1, "RefEnter": 1, "Exit": -1, "RefExit": -1}.get(op.type, 0)
        if depth > depths.get(op.name, 0):
            depths[op.name] = depth
            left.extend((user, depth) for user in users.get(op.name, ()))
    return frozenset(depths)


def has_functions(op: tf.Operation) -> bool:
    """Whether an op calls functions of the graph."""
    return any(attribute.type in ("func", "list(func)") for attribute in op.op_def.attr)


def completion_outputs(op: tf.Operation) -> list[Any]:
    """The outputs that tell that a call of functions has run; none for other ops, which tell it themselves.

    TensorFlow puts the body of a function in the place of its call. What waits for the call alone may then run before
    the reads in that body; what takes its outputs may not.
    """
    if not has_functions(op):
        return []
    return [tensor for tensor in op.outputs if tensor.dtype not in (tf.resource, tf.variant)]


def _set_attribute(attribute: Any, value: Any) -> None:
    if isinstance(value, tf.DType):
        attribute.type = value.as_datatype_enum
    elif isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.i = value
    else:
        attribute.s = value.encode()
