"""Sparse gradients of replicas, brought together whatever their sizes are.

A sparse gradient has as many rows as the batch has categories. Strategies made in a program with eager execution bring
values together by collectives, and a session holds each collective to the size of its first step: a model over
categories trains until a batch has more of them, then stops with "Shape mismatch in the collective instance".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf_strategies
from lightwell.devices.strategies import spans_processes


@contextlib.contextmanager
def of_any_size(strategy: Any) -> Iterator[None]:
    """Inside the block, replicas of this process bring sparse gradients together on a device, and dense ones as before;
    what the program itself chose for the strategy stays."""
    owner, name = _tf_strategies.reduction_of(strategy)
    own = getattr(owner, name, None)
    if type(own).__name__ != "CollectiveAllReduce" or spans_processes(strategy):  # no device is in all processes
        yield
        return
    setattr(owner, name, _SparseOnOneDevice(own))
    try:
        yield
    finally:
        setattr(owner, name, own)


class _SparseOnOneDevice(tf.distribute.CrossDeviceOps):
    def __init__(self, dense: Any) -> None:
        super().__init__()
        self._dense, self._sparse = dense, tf.distribute.ReductionToOneDevice()

    def reduce_implementation(self, reduce_op: Any, value: Any, destinations: Any, options: Any) -> Any:
        way = self._sparse if _is_sparse(value) else self._dense
        return way.reduce(reduce_op, value, destinations, options)

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any
    ) -> list[Any]:
        made: dict[int, Any] = {}
        for way, wanted in ((self._dense, False), (self._sparse, True)):
            places = [place for place, (value, _) in enumerate(value_destination_pairs) if _is_sparse(value) is wanted]
            if places:
                pairs = [value_destination_pairs[place] for place in places]
                made |= zip(places, way.batch_reduce(reduce_op, pairs, options), strict=True)
        return [made[place] for place in range(len(value_destination_pairs))]

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        return self._dense.broadcast(tensor, destinations)


def _is_sparse(value: Any) -> bool:
    parts = value.values if isinstance(value, tf.distribute.DistributedValues) else [value]
    return any(isinstance(part, tf.IndexedSlices) for part in parts)
