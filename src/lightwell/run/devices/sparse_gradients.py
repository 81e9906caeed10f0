"""Reduces sparse gradients of replicas, whatever their sizes are.

A sparse gradient has as many rows as the batch has categories. Strategies created under eager execution reduce values
by collectives, and a session fixes the size of each collective at its first step: a model over categories trains until
a batch has more of them, then stops with "Shape mismatch in the collective instance".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_strategies
from lightwell.run.devices.strategies import spans_processes


@contextlib.contextmanager
def reduce_sparse_on_one_device(strategy: Any) -> Iterator[None]:
    """Inside the block, replicas of this process reduce sparse gradients on one device, and dense ones as before; a
    reduction that the program itself chose for the strategy stays."""
    owner, name = private_strategies.reduction_of(strategy)
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
        reduced: dict[int, Any] = {}
        for way, sparse in ((self._dense, False), (self._sparse, True)):
            places = [place for place, (value, _) in enumerate(value_destination_pairs) if _is_sparse(value) is sparse]
            if places:
                pairs = [value_destination_pairs[place] for place in places]
                reduced |= zip(places, way.batch_reduce(reduce_op, pairs, options), strict=True)
        return [reduced[place] for place in range(len(value_destination_pairs))]

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        return self._dense.broadcast(tensor, destinations)


def _is_sparse(value: Any) -> bool:
    parts = value.values if isinstance(value, tf.distribute.DistributedValues) else [value]
    return any(isinstance(part, tf.IndexedSlices) for part in parts)
