"""Taps in evaluation: statistics per unit over the whole data set.

Each batch is reduced inside the graph; the sums are kept in double precision, so memory does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import UsageError
from lightwell.hooks.base import SessionRunArgs, SessionRunHook
from lightwell.sight.reductions import Reduction
from lightwell.sight.request import make_request
from lightwell.sight.select import Selection


@dataclass(frozen=True, eq=False)
class UnitStats:
    """Statistics of a value over a data set, one number per unit (per element of one example's value).

    Attributes:
        count: how many examples were seen.
        mean: the mean of each unit.
        std: its standard deviation.
        min: its smallest value.
        max: its largest value.
        zeros: the share of examples for which it is exactly zero; 1.0 is a dead unit.
    """

    count: int
    mean: np.ndarray[Any, Any]
    std: np.ndarray[Any, Any]
    min: np.ndarray[Any, Any]
    max: np.ndarray[Any, Any]
    zeros: np.ndarray[Any, Any]


class EvalResult(dict[str, Any]):
    """The metrics of an evaluation, and what its taps saw.

    Attributes:
        taps: path to `UnitStats`.
    """

    def __init__(self, metrics: dict[str, Any], taps: dict[str, UnitStats]) -> None:
        super().__init__(metrics)
        self.taps = taps


class TapOverData(SessionRunHook):
    """Gathers the statistics; a hook of the evaluation."""

    def __init__(self, program: Program, taps: Sequence[Selection]) -> None:
        asked = [taps] if isinstance(taps, str | type) or callable(taps) else list(taps)
        for one in asked:
            if isinstance(one, Reduction):
                raise UsageError(
                    "evaluate(taps=...) reduces over the data set by itself; give it plain paths, or use a Watch with "
                    f"{one.name}(...) for statistics per batch."
                )
        request = make_request(program, asked, "evaluate(taps=...)")
        with program.graph.as_default():
            self._fetches = {item.path: _sums(request.fetches[item.path]) for item in request.wanted}
        self._seen: dict[str, list[Any]] = {}

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts over."""
        self._seen = {}

    def before_run(self, run_context: Any) -> Any:
        """Asks for the sums of this batch."""
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Adds them up."""
        for path, (count, total, squares, low, high, zeros) in run_values.results.items():
            if path not in self._seen:
                self._seen[path] = [count, total, squares, low, high, zeros]
                continue
            seen = self._seen[path]
            seen[0], seen[1], seen[2] = seen[0] + count, seen[1] + total, seen[2] + squares
            seen[3], seen[4] = np.minimum(seen[3], low), np.maximum(seen[4], high)
            seen[5] = seen[5] + zeros

    def result(self) -> dict[str, UnitStats]:
        """The statistics over all batches seen."""
        return {path: _finished(*seen) for path, seen in self._seen.items()}


def _sums(tensor: Any) -> tuple[Any, ...]:
    x = tf.convert_to_tensor(tensor)
    if not (x.dtype.is_floating or x.dtype.is_integer or x.dtype.is_bool):
        raise UsageError(f"evaluate(taps=...): {x.name} holds {x.dtype.name}; statistics need numbers.")
    x = tf.cast(x if x.shape.rank != 0 else x[tf.newaxis], tf.float64)
    zeros = tf.reduce_sum(tf.cast(tf.equal(x, 0), tf.float64), axis=0)
    return (
        tf.shape(x, out_type=tf.int64)[0],
        tf.reduce_sum(x, axis=0),
        tf.reduce_sum(tf.square(x), axis=0),
        tf.reduce_min(x, axis=0),
        tf.reduce_max(x, axis=0),
        zeros,
    )


def _finished(count: Any, total: Any, squares: Any, low: Any, high: Any, zeros: Any) -> UnitStats:
    mean = total / count
    variance = np.maximum(squares / count - np.square(mean), 0.0)
    return UnitStats(int(count), mean, np.sqrt(variance), low, high, zeros / count)
