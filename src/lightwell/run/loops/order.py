"""One order for what a step leaves open: which of a read and a write of the same variable comes first.

A step may read a variable and write it with nothing to say which comes first: a learning rate that follows the global
step, next to the op that counts it. Run by itself, such a step comes out one way in practice; the same step in a loop
may come out another way, or each time another. What is open is settled here once, as it comes out in single steps:

- a write that waits for nothing but a few ops on variables and constants happens at once, and open reads see it;
- a write that waits for more, a batch or a gradient, comes after the open reads.

An edge makes an op run another one, also where a hook runs it by itself, outside of a step. So the graph itself gets
an edge only from an op that computes and reads, and needs nothing else that its other end does not need as well. All
other edges are for the copies of the step in loops, where both ends run in every step; there is none from an op that
only some steps run.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import OWN_SCOPE, VALUE_READ_OPS
from lightwell.foreign import private_tf
from lightwell.run.loops.effects import Effects, Use
from lightwell.run.loops.step_copy import Edges, completion_outputs, step_ops

Sources = Mapping[str, Sequence[str]]
Accesses = dict[str, list[tf.Operation]]
_GraphKeys = tf.compat.v1.GraphKeys
_FEW = 12  # ops; a counter that goes on by one takes four of them, a whole model on constants many more


def settle_order(graph: tf.Graph, targets: Sequence[Any], in_every_step: Sequence[Any]) -> Edges:
    """Adds edges to the graph, which must not be final; gives those that only copies of the step may have.

    Args:
        graph: the graph.
        targets: the ops and tensors of a step, those that hooks look at included.
        in_every_step: those of them that every step runs, whoever looks.
    """
    inside = {op.name for op in step_ops(targets)[0]}
    ops = {op.name: op for op in graph.get_operations() if op.name in inside}  # in the order of their making
    effects = Effects(graph)
    reads, writes, hands_on = _accesses(ops.values(), effects)
    shared = [variable for variable in writes if variable in reads]
    if not shared:
        return ()
    sources = {name: [source for source in _sources(op) if source in ops] for name, op in ops.items()}
    written = {op.name for variable in shared for op in writes[variable]}
    order = _order(ops, sources, written)
    places = {name: place for place, name in enumerate(order)}
    pairs = (
        sorted((read.name, write.name), key=places.__getitem__)
        for variable in shared
        for read in reads[variable]
        for write in writes[variable]
    )
    always = {op.name for op in step_ops(in_every_step)[0]}
    set_up = _initializers(graph)
    # One function may read many variables, and many ops may write one: each answer is found once.
    completions = functools.cache(lambda name: _completions(graph, ops[name]))
    needs = functools.cache(lambda name: frozenset(op.name for op in step_ops([ops[name]])[0]))

    def runs_unnoticed(first: str, second: str) -> bool:
        """Whether nobody can notice that `first` runs wherever `second` does: it computes and reads, and so does all
        that it waits for, except what `second` waits for as well."""
        return first not in written and (
            effects.only_reads(ops[first]) or effects.only_reads(ops[first], needs(second))
        )

    of_copies = []
    for first, second in _open(pairs, order, sources):
        if first in hands_on:  # when it has run, what it hands the variable to has not
            continue
        if second not in set_up and runs_unnoticed(first, second):
            private_tf.add_control_inputs(ops[second], completions(first))
        elif effects.only_reads(ops[first], always):
            of_copies.append((first, second))
    return of_copies


def _completions(graph: tf.Graph, op: tf.Operation) -> list[tf.Operation]:
    """Ops that have run only when `op` has: itself, or for a call of functions, ops that take its outputs."""
    with graph.control_dependencies(None), graph.device(op.device), graph.name_scope(f"{OWN_SCOPE}order/"):
        return [tf.raw_ops.Identity(input=tensor).op for tensor in completion_outputs(op)] or [op]


def _initializers(graph: tf.Graph) -> set[str]:
    """The names of ops that give variables their first values, when there is nothing to read yet."""
    variables = [*graph.get_collection(_GraphKeys.GLOBAL_VARIABLES), *graph.get_collection(_GraphKeys.LOCAL_VARIABLES)]
    return {part.initializer.name for variable in variables for part in private_tf.parts_of(variable)}


def _accesses(ops: Iterable[tf.Operation], effects: Effects) -> tuple[Accesses, Accesses, set[str]]:
    """By the name of each variable, the ops that read it, and those that may write it; and which of the latter only
    hand it on."""
    reads: Accesses = {}
    writes: Accesses = {}
    hands_on: set[str] = set()
    for op in ops:
        for place, tensor in enumerate(op.inputs):
            if tensor.dtype != tf.resource or tensor.op.type != "VarHandleOp":
                continue
            use = effects.use(op, place)
            if use is not Use.NONE:
                (reads if use is Use.READ else writes).setdefault(tensor.op.name, []).append(op)
            if use is Use.HANDS_ON:
                hands_on.add(op.name)
    return reads, writes, hands_on


def _sources(op: tf.Operation) -> list[str]:
    """What an op waits for within one step; the way back of a loop is none of it."""
    inputs = [tensor.op for tensor in op.inputs]
    if op.type in ("Merge", "RefMerge"):
        inputs = [source for source in inputs if source.type not in ("NextIteration", "RefNextIteration")]
    return [source.name for source in (*inputs, *op.control_inputs)]


def _order(ops: Mapping[str, tf.Operation], sources: Sources, writes: set[str]) -> list[str]:
    """All ops, each after what it waits for. Edges that agree with one order never close a circle."""
    by_need = _after_sources(ops, sources)
    waits: set[str] = set()  # for more than variables and constants
    for name in by_need:
        is_plain = not ops[name].op_def.is_stateful or ops[name].type in VALUE_READ_OPS
        if (not is_plain and name not in writes) or any(one in waits or one in writes for one in sources[name]):
            waits.add(name)
    late = {name for name in writes if name in waits or _waits_for_many(name, sources)}
    follows = set(late)
    for name in by_need:
        if any(one in follows for one in sources[name]):
            follows.add(name)
    # Of the writes that happen at once the one built last is first: its thread continues while the others wait for one.
    at_once = [name for name in reversed(list(ops)) if name in writes - late]
    return _after_sources([*at_once, *(name for name in ops if name not in follows), *ops], sources)


def _waits_for_many(name: str, sources: Sources) -> bool:
    seen, left = {name}, [name]
    while left and len(seen) <= _FEW:
        new = [source for source in sources[left.pop()] if source not in seen]
        seen.update(new)
        left += new
    return len(seen) > _FEW


def _after_sources(names: Iterable[str], sources: Sources) -> list[str]:
    """The ops, and all that they wait for, each after what it waits for, else in their own order."""
    ordered: dict[str, None] = {}
    for name in names:
        left = [(name, False)]
        while left:
            current, is_complete = left.pop()
            if current in ordered:
                continue
            if is_complete:
                ordered[current] = None
                continue
            left.append((current, True))
            left += [(source, False) for source in sources[current] if source not in ordered]
    return list(ordered)


def _open(pairs: Iterable[Sequence[str]], order: Sequence[str], sources: Sources) -> Iterator[tuple[str, str]]:
    """Those of the pairs whose second does not wait for the first as it is.

    For each op the firsts that it waits for are stored as bits, and dropped after their last use: a big
    model has many ops, and many variables.
    """
    firsts: dict[str, list[str]] = {}
    for first, second in pairs:
        firsts.setdefault(second, []).append(first)
    known = {first for names in firsts.values() for first in names}
    bits = {name: 1 << number for number, name in enumerate(name for name in order if name in known)}
    left = Counter(source for name in order for source in sources[name])
    above: dict[str, int] = {}
    for name in order:
        waits_for = bits.get(name, 0)
        for source in sources[name]:
            waits_for |= above[source]
            left[source] -= 1
            if not left[source]:
                del above[source]
        if left[name]:
            above[name] = waits_for
        yield from ((first, name) for first in firsts.get(name, ()) if not waits_for & bits[first])
