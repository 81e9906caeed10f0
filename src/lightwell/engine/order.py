"""One order for what a step leaves open: a variable is read before it is written.

A step may read a variable and assign it with nothing to say which comes first: a learning rate that follows the global
step, beside the op that counts it. A session that runs such a step by itself reads first, in practice; the same step in
a loop may not. What is open is settled here once, by edges in the graph, so that every way to run a step gives the same
numbers. A read that depends on a write keeps its place.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import tensorflow as tf

from lightwell import _tf
from lightwell.engine.step_copy import step_ops

_READS = frozenset(["ReadVariableOp", "ResourceGather", "ResourceGatherNd"])
_NEITHER = frozenset(["VariableShape", "VarIsInitializedOp", "DestroyResourceOp"])


def read_before_writing(targets: Sequence[object]) -> None:
    """Adds the edges to the graph of `targets`, which must not be final.

    Args:
        targets: the ops and tensors of a step, those that hooks look at included.
    """
    ops = step_ops(targets)[0]
    reads, writes = _accesses(ops)
    shared = [variable for variable in writes if variable in reads]
    if not shared:
        return
    bits = {op.name: 1 << place for place, op in enumerate(op for variable in shared for op in reads[variable])}
    written = {op.name for variable in shared for op in writes[variable]}
    above, after = _reads_above(ops, bits, written)
    for variable in shared:
        for write in writes[variable]:
            open_reads = [
                read
                for read in reads[variable]
                if not above[write.name] & bits[read.name] and after[read.name] < after[write.name]
            ]
            if open_reads:
                _tf.run_after(write, open_reads)


def _accesses(ops: Sequence[tf.Operation]) -> tuple[dict[str, list[tf.Operation]], dict[str, list[tf.Operation]]]:
    """By the name of each variable, the ops that read it, and those that write it."""
    reads: dict[str, list[tf.Operation]] = {}
    writes: dict[str, list[tf.Operation]] = {}
    for op in ops:
        for tensor in op.inputs:
            if tensor.dtype == tf.resource and tensor.op.type == "VarHandleOp" and op.type not in _NEITHER:
                (reads if op.type in _READS else writes).setdefault(tensor.op.name, []).append(op)
    return reads, writes


def _reads_above(
    ops: Sequence[tf.Operation], bits: dict[str, int], written: set[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """For each op, the reads it depends on, as bits, and its place in an order in which writes come as late as they
    can. Edges that agree with one order never close a circle."""
    by_name = {op.name: op for op in ops}
    sources = {op.name: {name for name in _sources(op) if name in by_name} for op in ops}
    users: dict[str, list[str]] = {}
    for name, needed in sources.items():
        for source in needed:
            users.setdefault(source, []).append(name)
    places = {op.name: place for place, op in enumerate(ops)}
    waiting = {name: len(needed) for name, needed in sources.items()}
    ready = [(name in written, places[name], name) for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    above: dict[str, int] = {}
    after: dict[str, int] = {}
    while ready:
        _, _, name = heapq.heappop(ready)
        mask = bits.get(name, 0)
        for source in sources[name]:
            mask |= above[source]
        above[name], after[name] = mask, len(after)
        for user in users.get(name, ()):
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (user in written, places[user], user))
    return above, after


def _sources(op: tf.Operation) -> list[str]:
    """What an op waits for within one step; the way back of a loop is none of it."""
    inputs = [tensor.op for tensor in op.inputs]
    if op.type in ("Merge", "RefMerge"):
        inputs = [source for source in inputs if source.type not in ("NextIteration", "RefNextIteration")]
    return [source.name for source in (*inputs, *op.control_inputs)]
