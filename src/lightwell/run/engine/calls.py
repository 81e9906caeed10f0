"""`Calls`: prepared session calls.

`Session.run` resolves its fetches on every call, and a run mostly fetches the same ones. `Calls` prepares a call for
each set of elements, and caches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.run.engine.denormals import flushed

_MOST_PREPARED = 64


class Calls:
    """Runs elements (tensors and operations) of one session, from any thread.

    Args:
        session: an open session.
    """

    def __init__(self, session: tf.compat.v1.Session) -> None:
        self._session = session
        self._prepared: dict[Any, _Prepared] = {}

    def run(
        self, elements: Sequence[Any], fed: Sequence[Any] = (), values: Sequence[Any] = (), *, stays: bool = False
    ) -> Sequence[Any]:
        """The values of `elements`, in order; None for an operation.

        Args:
            elements: what to fetch.
            fed: tensors to feed, the same ones whenever these elements are run with any.
            values: what to feed them.
            stays: whether to run in the calling thread, not in the thread pool.
        """
        key = (tuple(map(id, elements)), bool(fed))
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = _Prepared(self._session, elements, fed)
            if len(self._prepared) < _MOST_PREPARED:  # a caller may fetch something new in each call
                self._prepared[key] = prepared
        if not stays:
            return prepared.run(values, stays)
        with flushed():  # as in TensorFlow's own threads
            return prepared.run(values, stays)

    def run_with_options(self, elements: Sequence[Any], feeds: Mapping[Any, Any], options: Any, metadata: Any) -> Any:
        """The same by way of `Session.run`, which takes any feeds, traces, and times out."""
        return self._session.run(list(elements), dict(feeds), options, metadata)


class _Prepared:
    """A call for certain elements. Each is fetched once: to TensorFlow, calls that fetch the same are the same."""

    def __init__(self, session: tf.compat.v1.Session, elements: Sequence[Any], fed: Sequence[Any]) -> None:
        self._elements = list(elements)  # their ids are a key, and must not be reused for others
        places = {one.name: place for place, one in enumerate(fed)}  # what is fed is not fetched
        tensors = {one.name: one for one in elements if isinstance(one, tf.Tensor) and one.name not in places}
        targets = {one.name: one for one in elements if isinstance(one, tf.Operation)}
        self._call = private_tf.PreparedCall(session, list(tensors.values()), list(targets.values()), fed)
        places |= {name: len(fed) + place for place, name in enumerate(tensors)}
        self._places = [places.get(one.name) for one in elements]

    def run(self, values: Sequence[Any], stays: bool) -> Sequence[Any]:
        arrays = [np.asarray(value) for value in values]
        results = [*arrays, *self._call(arrays, stays)]
        return [None if place is None else results[place] for place in self._places]
