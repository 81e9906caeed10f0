"""Many batches in one call, for warm evaluations and predictions: their step becomes a loop in the same graph.

Takes a program whose graph is not final yet; gives a `BatchLoop`. Evaluation needs no more than that the metrics are
updated. Prediction keeps the outputs of every batch in lists that are joined at the end of a call: one array per
output, and the lengths of its batches; of a number per batch, one array and no lengths.

An error inside a call loses what the call has kept, the end of the data too. So a prediction is run in a loop only
where the number of batches is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.fuse import elements_of, fused_ops
from lightwell.engine.fuse_copy import StepCopy, copy_step, step_ops
from lightwell.engine.fuse_limits import unfit_op

_COUNT = tf.int64


@dataclass(frozen=True, eq=False)
class BatchLoop:
    """The loop.

    Attributes:
        most: feed how many batches to go through.
        done: fetch it to run the loop; how many batches it went through.
        kept: name of an output to its values over all batches of a call, and their lengths.
    """

    most: Any
    done: Any
    kept: dict[str, tuple[Any, Any]]

    def keeps(self, fetches: Any) -> bool:
        """Whether a structure of tensors can be had from the loop."""
        leaves = tf.nest.flatten(fetches, expand_composites=True)
        return len(leaves) == len(tf.nest.flatten(fetches)) and all(self._name(leaf) in self.kept for leaf in leaves)

    def fetches_for(self, fetches: Any) -> list[tuple[Any, Any]]:
        """What to fetch for a structure of tensors."""
        return [self.kept[self._name(leaf)] for leaf in tf.nest.flatten(fetches)]

    def _name(self, leaf: Any) -> str:
        """The name of the tensor that a session fetches for a leaf, which may be a variable."""
        return str(self.done.graph.as_graph_element(leaf).name)


@dataclass(frozen=True, eq=False)
class Chunk:
    """The outputs of several batches.

    Attributes:
        fetches: the structure that was asked for.
        found: for each tensor in it, the values of all batches joined, and the lengths of the batches.
    """

    fetches: Any
    found: Sequence[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]

    @property
    def is_even(self) -> bool:
        """Whether all outputs have examples, and the same number of them, batch by batch."""
        first = self.found[0][1]
        return first.size > 0 and all(np.array_equal(first, lengths) for _, lengths in self.found)

    @property
    def bytes(self) -> int:
        """How big the outputs are."""
        return sum(values.nbytes for values, _ in self.found)

    def joined(self) -> Any:
        """The structure, with the examples of all batches."""
        return tf.nest.pack_sequence_as(self.fetches, [values for values, _ in self.found])

    def batches(self) -> Iterator[Any]:
        """The structure, batch by batch."""
        cut = [
            np.split(values, np.cumsum(lengths)[:-1]) if lengths.size else list(values)
            for values, lengths in self.found
        ]
        for parts in zip(*cut, strict=True):
            yield tf.nest.pack_sequence_as(self.fetches, parts)


def loop_over_batches(graph: tf.Graph, run: Sequence[Any], keep: Any = ()) -> BatchLoop | None:
    """Adds the loop to a graph, which must not be final; None where the step cannot be run in a loop.

    Args:
        graph: the program's graph.
        run: ops and tensors to run for each batch.
        keep: structure of what to keep of each batch; only tensors whose batches differ in the first dimension are.
    """
    kept = [element for element in elements_of(graph, keep) if _joins(element)]
    if not (run or kept) or not _can_be_looped([*run, *kept]):
        return None
    with fused_ops(graph):
        most = tf.compat.v1.placeholder(_COUNT, [], "most")
        start = tf.constant(0, _COUNT, name="start")
        lists = [tf.raw_ops.EmptyTensorList(**_list_of(tensor), max_num_elements=-1) for tensor in kept]
    step = copy_step(graph, [*run, *kept])
    ends = [_add_counter(step, start, most, run)]
    ends += [
        step.list_of_all(f"kept_{number}", empty, tensor)
        for number, (empty, tensor) in enumerate(zip(lists, kept, strict=True))
    ]
    done, *filled = step.add_to(graph, ends)
    with fused_ops(graph):
        joined = [_joined(handle, tensor) for handle, tensor in zip(filled, kept, strict=True)]
        return BatchLoop(most, done, {tensor.name: both for tensor, both in zip(kept, joined, strict=True)})


def _can_be_looped(targets: Sequence[Any]) -> bool:
    """Whether a loop gives what single steps give: random ops have a state that a copy does not share."""
    inside, _ = step_ops(targets)
    has_source = any(op.type == "IteratorGetNext" for op in inside)
    return has_source and unfit_op(targets) is None and not any(_is_random(op) for op in inside)


def _is_random(op: tf.Operation) -> bool:
    return op.type.startswith(("Random", "Truncated", "Multinomial", "Parameterized"))


def _add_counter(step: StepCopy, start: Any, most: Any, run: Sequence[Any]) -> str:
    counter = step.node("counter", "Merge", [step.enter(start, constant=False), step.name("next")], T=_COUNT, N=2)
    is_below = step.node("is_below", "Less", [counter, step.enter(most)], T=_COUNT)
    step.node(step.CONDITION, "LoopCond", [is_below])
    switch = step.node("switch", "Switch", [counter, step.name(step.CONDITION)], T=_COUNT)
    step.node(step.PIVOT, "Identity", [f"{switch}:1"], T=_COUNT)
    finished = [f"^{step.copied_op(target)}" for target in run]
    one = step.constant("one", 1, _COUNT)
    done = step.node("done", "AddV2", [step.name(step.PIVOT), one, *finished], T=_COUNT)
    step.node("next", "NextIteration", [done], T=_COUNT)
    return f"{step.node('exit', 'Exit', [switch], T=_COUNT)}:0"


def _joined(handle: Any, tensor: Any) -> tuple[Any, Any]:
    nothing = tf.constant([], tf.int64)
    if not tensor.shape.rank:
        return tf.raw_ops.TensorListStack(input_handle=handle, **_list_of(tensor)), nothing
    joined = tf.raw_ops.TensorListConcatV2(input_handle=handle, **_list_of(tensor), leading_dims=nothing)
    return joined.tensor, joined.lengths


def _list_of(tensor: Any) -> dict[str, Any]:
    shape = [-1, *tensor.shape[1:]] if tensor.shape.rank else []
    return {"element_shape": tf.constant(shape, tf.int32), "element_dtype": tensor.dtype}


def _joins(tensor: Any) -> bool:
    is_plain = isinstance(tensor, tf.Tensor) and tensor.dtype not in (tf.variant, tf.resource)
    return is_plain and tensor.shape.rank is not None and tensor.shape[1:].is_fully_defined()
