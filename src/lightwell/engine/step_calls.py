"""Single steps of a training, and what hooks fetch beside them, with as little around each as can be.

What a session has to look up is looked up once, and each step is run the faster of two ways.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.engine.calls import key_of
from lightwell.engine.faster_way import FasterWay

Read = Callable[[Sequence[Any]], Any]

_MOST_PREPARED = 64
_STEPS_BEFORE_TRIAL = 100
_STEPS_A_TURN = 8
_TURNS = 10


class StepCalls:
    """Runs one step of a training at a time.

    Args:
        session: an open session.
        step: what each step fetches: tensors and operations.
        may_stay: whether operations may run in the thread that calls.
    """

    def __init__(self, session: tf.compat.v1.Session, step: Sequence[Any], may_stay: bool) -> None:
        self._session = session
        self._step = list(step)
        self._known: dict[Any, _Prepared | None] = {}
        self._last: _Prepared | None = None
        self._way = FasterWay(may_stay, fewest=1, before=_STEPS_BEFORE_TRIAL, a_turn=_STEPS_A_TURN, turns=_TURNS)

    def run(self, asked: Mapping[Any, Any]) -> tuple[Sequence[Any], dict[Any, Any]] | None:
        """Runs a step; returns what it fetches and, by the same keys, what was asked for.

        None, and nothing has run, if something is asked for that only `Session.run` knows how to fetch.
        """
        ready = self._last
        if ready is None or not ready.is_for(asked):
            ready = self._find(asked)
            if ready is None:
                return None
            self._last = ready
        if self._way.is_decided:
            values = ready.call(self._way.stays)
        else:
            started = time.perf_counter()
            values = ready.call(self._way.stays)
            self._way.took(1, time.perf_counter() - started)
        return ready.read_step(values), {key: read(values) for key, read in ready.reads}

    def _find(self, asked: Mapping[Any, Any]) -> _Prepared | None:
        key = key_of(asked)
        if key not in self._known:
            if len(self._known) >= _MOST_PREPARED:  # a hook that makes up new fetches each step
                return None
            self._known[key] = _prepared(self._session, self._step, dict(asked))
        return self._known[key]


class _Prepared:
    """A step with one set of fetches beside it."""

    def __init__(self, session: Any, places: _Places, read_step: Read, reads: dict[Any, Read], asked: Any) -> None:
        self._session = session
        self._places = places
        self._calls: dict[bool, Callable[[], Sequence[Any]]] = {}
        self._asked = asked  # kept alive: fetches are told by their ids, which must not be given to others
        self.read_step = read_step
        self.reads = tuple(reads.items())

    def is_for(self, asked: Mapping[Any, Any]) -> bool:
        """Whether these are the very objects that this was prepared for. Cheap, and true of most hooks each step."""
        mine = self._asked
        if len(asked) != len(mine):
            return False
        # Only tensors: a list of tensors may be the same list with others in it.
        return all(value is mine.get(key) and isinstance(value, tf.Tensor) for key, value in asked.items())

    def call(self, stays: bool) -> Sequence[Any]:
        """Runs the step, in this thread or by the pool."""
        made = self._calls.get(stays)
        if made is None:
            fetches, targets = list(self._places.tensors), list(self._places.targets)
            made = self._calls[stays] = _tf.prepared_call(self._session, fetches, targets, stays)
        return made()


class _Places:
    """The tensors and operations of several structures, each once, and where a structure finds its own."""

    def __init__(self, graph: tf.Graph) -> None:
        self._graph = graph
        self.tensors: dict[str, int] = {}
        self.targets: dict[str, None] = {}

    def read(self, fetches: Any) -> Read | None:
        """A function that takes the values of all tensors and gives what a session returns for `fetches`; None for what
        is more than a structure of tensors and operations."""
        kind = type(fetches)
        if kind is dict:
            parts = {key: self.read(value) for key, value in fetches.items()}
            if None in parts.values():
                return None
            return lambda values: {key: part(values) for key, part in parts.items() if part is not None}
        if kind is list or isinstance(fetches, tuple):
            return self._read_sequence(fetches)
        if isinstance(fetches, tf.Operation):
            self.targets[fetches.name] = None
            return lambda values: None
        if isinstance(fetches, tf.Variable | str):
            fetches = self._graph.as_graph_element(fetches)
            return None if not isinstance(fetches, tf.Tensor | tf.Operation) else self.read(fetches)
        if not isinstance(fetches, tf.Tensor) or not self._graph.is_fetchable(fetches):
            return None
        if fetches.graph is not self._graph or fetches.dtype in (tf.resource, tf.variant):
            return None
        place = self.tensors.setdefault(fetches.name, len(self.tensors))
        return lambda values: values[place]

    def _read_sequence(self, fetches: Any) -> Read | None:
        parts = [self.read(value) for value in fetches]
        if None in parts:
            return None
        known = [part for part in parts if part is not None]
        if hasattr(fetches, "_fields"):
            return lambda values: type(fetches)(*(part(values) for part in known))
        if type(fetches) is tuple:
            return lambda values: tuple(part(values) for part in known)
        return lambda values: [part(values) for part in known]


def _prepared(session: Any, step: Sequence[Any], asked: dict[Any, Any]) -> _Prepared | None:
    places = _Places(session.graph)
    read_step, reads = places.read(list(step)), {key: places.read(fetches) for key, fetches in asked.items()}
    if read_step is None or None in reads.values():
        return None
    return _Prepared(session, places, read_step, {key: read for key, read in reads.items() if read}, asked)
