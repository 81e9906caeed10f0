"""Running elements in a session without paying for their preparation each time.

`Session.run` resolves its fetches anew on every call; a run mostly asks for the same ones. `Calls` prepares a call per
set of elements, and keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell import _tf

_MOST_PREPARED = 64


class Calls:
    """Runs elements (tensors and operations) of one session, from any thread.

    Args:
        session: an open session.
    """

    def __init__(self, session: tf.compat.v1.Session) -> None:
        self._session = session
        # The elements stand beside their call: the key holds their ids, which must not be given to others.
        self._prepared: dict[Any, tuple[Callable[..., Sequence[Any]], Sequence[Any]]] = {}

    def run(self, elements: Sequence[Any], fed: Sequence[Any] = (), values: Sequence[Any] = ()) -> Sequence[Any]:
        """The values of `elements`, in order; None for an operation.

        Args:
            elements: what to fetch.
            fed: tensors to feed, the same ones whenever these elements are run with any.
            values: the arrays to feed them.
        """
        key = (tuple(map(id, elements)), bool(fed))
        found = self._prepared.get(key)
        if found is None:
            if len(self._prepared) >= _MOST_PREPARED:  # somebody makes up new fetches for each call
                return self._session.run(list(elements), dict(zip((one.name for one in fed), values, strict=True)))
            made = self._session.make_callable(list(elements), feed_list=list(fed) or None)
            found = self._prepared[key] = (made, list(elements))
        return found[0](*values)

    def run_step(
        self,
        elements: Sequence[Any],
        stays: bool,
        fed: Sequence[Any] = (),
        values: Sequence[Any] = (),
        *,
        read_only: bool = False,
    ) -> Sequence[Any]:
        """The same for steps, with as little around each as can be, in the calling thread if it `stays`.

        An operation that is run by `Session.run` or `make_callable` is never freed, nor is its graph, if the call
        fails, by the end of the input for one; here it may. What is only read need not be copied.
        """
        key = (tuple(map(id, elements)), bool(fed), stays, read_only)
        found = self._prepared.get(key)
        if found is None:
            if len(self._prepared) >= _MOST_PREPARED or any(_is_handle(element) for element in elements):
                return self.run(elements, fed, values)
            places = {one.name: None for one in elements if isinstance(one, tf.Tensor)}
            targets = [one.name for one in elements if isinstance(one, tf.Operation)]
            call = _tf.prepared_call(self._session, list(places), targets, stays, [one.name for one in fed])
            order = [list(places).index(one.name) if one.name in places else None for one in elements]

            def step(*given: Any) -> Sequence[Any]:
                found = call(*given)
                return [None if place is None else found[place] if read_only else _own(found[place]) for place in order]

            found = self._prepared[key] = (step, list(elements))
        return found[0](*map(np.asarray, values))

    def run_with_options(self, elements: Sequence[Any], feeds: Mapping[Any, Any], options: Any, metadata: Any) -> Any:
        """The same by way of `Session.run`, which takes any feeds, traces, and times out."""
        return self._session.run(list(elements), dict(feeds), options, metadata)


def _own(value: Any) -> Any:
    """A value that a reader may write to: an array may be the session's own memory."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _is_handle(element: Any) -> bool:
    return isinstance(element, tf.Tensor) and element.dtype in (tf.resource, tf.variant)
