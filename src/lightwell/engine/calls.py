"""Running elements in a session without paying for their preparation each time.

`Session.run` resolves its fetches anew on every call; a run mostly asks for the same ones. `Calls` prepares a call per
set of elements, and keeps it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell import _tf
from lightwell.engine.denormals import flushed
from lightwell.loops.fusible import draws_apart

_MOST_PREPARED = 64
_OFTEN = 256  # calls
_SMALL = 0.002  # seconds a call; of larger ones, what is around the ops is a small part


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
            stays: whether to run in the calling thread, not in a pool of threads.
        """
        key = (tuple(map(id, elements)), bool(fed))
        found = self._prepared.get(key)
        if found is None:
            found = _Prepared(self._session, elements, fed)
            if len(self._prepared) < _MOST_PREPARED:  # else somebody makes up new fetches for each call
                self._prepared[key] = found
        if not stays:
            return found.run(values, stays)
        with flushed():  # as in TensorFlow's own threads
            return found.run(values, stays)

    def run_with_options(self, elements: Sequence[Any], feeds: Mapping[Any, Any], options: Any, metadata: Any) -> Any:
        """The same by way of `Session.run`, which takes any feeds, traces, and times out."""
        return self._session.run(list(elements), dict(feeds), options, metadata)


class _Prepared:
    """A call for certain elements. Each is asked for once: to TensorFlow, calls that fetch the same are the same.

    What is called often and does little becomes a call of its own, where it makes no difference: functions that are not
    part of the graph may have generators of random numbers for each call.
    """

    def __init__(self, session: tf.compat.v1.Session, elements: Sequence[Any], fed: Sequence[Any]) -> None:
        self._elements = list(elements)  # their ids are a key, and must not be given to others
        own = {one.name: place for place, one in enumerate(fed)}  # these are not asked for
        tensors = {one.name: one for one in elements if isinstance(one, tf.Tensor) and one.name not in own}
        targets = {one.name: one for one in elements if isinstance(one, tf.Operation)}
        self._asked = list(tensors.values()), list(targets.values()), fed
        self._session = session
        self._call = _tf.PreparedCall(session, *self._asked)
        self._often: dict[bool, Any] = {}
        self._calls, self._seconds = 0, 0.0
        place_of = own | {name: len(fed) + place for place, name in enumerate(tensors)}
        self._places = [place_of.get(one.name) for one in elements]

    def run(self, values: Sequence[Any], stays: bool) -> Sequence[Any]:
        given = [np.asarray(value) for value in values]
        often = self._often.get(stays)
        found = [*given, *(self._call_seldom(given, stays) if often is None else often(*given))]
        return [None if place is None else found[place] for place in self._places]

    def _call_seldom(self, given: Sequence[Any], stays: bool) -> Any:
        started = time.perf_counter()
        values = self._call(given, stays)
        self._calls, self._seconds = self._calls + 1, self._seconds + time.perf_counter() - started
        if self._calls == _OFTEN and self._seconds > _OFTEN * _SMALL:
            self._calls, self._seconds = 0, 0.0  # the first call took long to prepare, or all of them do
        elif self._calls == _OFTEN and not self._session.sess_str:
            fetches, targets, _ = self._asked
            if draws_apart(self._session.graph, [*fetches, *targets]) is None:
                self._often[stays] = _tf.call_of_its_own(self._session, *self._asked, stays)
        return values
