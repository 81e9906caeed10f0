"""The first centers: given, drawn from the points, or chosen far apart (k-means++).

Owns `FirstCenters`, which says how, and `ChooseFirstCenters`, the hook that takes batches until all are chosen, before
the first step. A training that goes on has its centers and takes none.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.canned.clustering.distances import COSINE, of_length_one
from lightwell.canned.clustering.state import ClusterState
from lightwell.errors import InputFnError, UsageError
from lightwell.hooks.base import ScheduledHook

_v1 = tf.compat.v1
RANDOM, KMEANS_PLUS_PLUS = "random", "kmeans_plus_plus"
_SECONDS_BETWEEN_LOOKS = 0.1


class TooFewPoints(InputFnError, tf.errors.OutOfRangeError):
    """The data were at an end before all centers were chosen."""

    def __init__(self, message: str) -> None:
        tf.errors.OutOfRangeError.__init__(self, None, None, message)


@dataclass(frozen=True)
class FirstCenters:
    """How the first centers are chosen.

    Attributes:
        where: the model, for errors.
        way: `RANDOM`, `KMEANS_PLUS_PLUS`, a matrix, or a function of the user's.
        metric: what distances are measured by.
        seed: that of random draws.
        retries: of k-means++: how many more points to draw, of which the best is taken.
    """

    where: str
    way: Any
    metric: str
    seed: int | None
    retries: int

    def choice(self, points: Any, state: ClusterState) -> FirstChoice:
        """What the hook runs: centers out of a batch, and the op that keeps them all."""
        missing = _v1.placeholder_with_default(state.number, [])
        new = self._some(points, missing)
        if self.metric == COSINE:
            new = of_length_one(new)
        given = _v1.placeholder_with_default(tf.zeros([0, 0], points.dtype), None)
        centers = [state.centers.assign(given, read_value=False)]
        if state.steps_left is not None:
            centers.append(state.next_centers.assign(given, read_value=False))
        with tf.control_dependencies(centers):
            keep = state.chosen.assign(True, read_value=False)
        return FirstChoice(self.where, state.number, missing, new, given, keep, state.chosen.read_value())

    def _some(self, points: Any, missing: Any) -> Any:
        if isinstance(self.way, np.ndarray):
            return tf.constant(self.way)
        if callable(self.way):
            given = self.way([points], missing)
            return tf.concat(given, 0) if isinstance(given, list | tuple) else tf.convert_to_tensor(given)
        rows = tf.shape(points)[0]
        if self.way == KMEANS_PLUS_PLUS:
            enough = tf.debugging.assert_greater_equal(
                rows,
                missing,
                message=f"{self.where}: k-means++ chooses all centers from the first batch, which has fewer points "
                "than num_clusters. Let input_fn give larger batches, or use initial_clusters='random'.",
            )
            with tf.control_dependencies([enough]):
                return tf.raw_ops.KmeansPlusPlusInitialization(
                    points=points,
                    num_to_sample=tf.cast(missing, tf.int64),
                    seed=self._op_seed() or 0,
                    num_retries_per_sample=self.retries,
                )
        return tf.cond(rows <= missing, lambda: tf.identity(points), lambda: self._drawn(points, missing, rows))

    def _drawn(self, points: Any, missing: Any, rows: Any) -> Any:
        """Points at random; one may come twice, as in `tf.estimator`."""
        size, end = tf.reshape(missing, [-1]), tf.cast(rows, tf.int64)
        return tf.gather(points, tf.random.uniform(size, maxval=end, dtype=tf.int64, seed=self._op_seed()))

    def _op_seed(self) -> int | None:
        """As `tf.estimator` had it: where the `RunConfig` has a seed, that one counts, and not the model's."""
        seed: int | None = _v1.random.get_seed(self.seed)[0]
        return seed


@dataclass(frozen=True)
class FirstChoice:
    """The tensors and ops of a first choice.

    Attributes:
        where: the model, for errors.
        number: how many centers there are to be.
        missing: to be fed: how many are still to be chosen.
        new: up to so many centers, out of the next batch.
        centers: to be fed: all centers.
        keep: the op that keeps them.
        is_done: whether they are kept.
    """

    where: str
    number: int
    missing: Any
    new: Any
    centers: Any
    keep: Any
    is_done: Any

    def run(self, session: Any) -> None:
        """Takes batches until all centers are chosen, and keeps them.

        Raises:
            TooFewPoints: the data were at an end before.
            UsageError: a function of the user's chose too many.
        """
        chosen: list[Any] = []
        while len(chosen) < self.number:
            try:
                new = session.run(self.new, {self.missing: self.number - len(chosen)})
            except tf.errors.OutOfRangeError as error:
                raise TooFewPoints(
                    f"{self.where}: End of sequence: the data ended after {len(chosen)} of {self.number} first centers "
                    "were chosen. num_clusters must not be larger than the number of points: let input_fn give more of "
                    "them, or repeat."
                ) from error
            if len(new) > self.number - len(chosen):
                raise UsageError(
                    f"{self.where}: the function given as initial_clusters chose {len(new)} centers where "
                    f"{self.number - len(chosen)} were asked for. f(inputs, k) gives at most k rows."
                )
            chosen.extend(new)
        session.run(self.keep, {self.centers: np.stack(chosen)})


class ChooseFirstCenters(ScheduledHook):
    """Chooses the centers once the session is open, and sees no step.

    Args:
        choice: what to run.
        is_chief: whether to choose, and not to wait until another did.
    """

    def __init__(self, choice: FirstChoice, is_chief: bool) -> None:
        self._choice, self._is_chief = choice, is_chief

    def next_look(self, count: int) -> int:
        """No step at all."""
        return self.NEVER

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Chooses the centers, unless a checkpoint had them."""
        while not session.run(self._choice.is_done):
            if self._is_chief:
                self._choice.run(session)
            else:
                time.sleep(_SECONDS_BETWEEN_LOOKS)


def checked_way(given: Any, where: str) -> str | np.ndarray | Callable[..., Any]:
    """What a user gave as `initial_clusters`.

    Raises:
        UsageError: it is nothing of the kind.
    """
    ways = f"one of {[RANDOM, KMEANS_PLUS_PLUS]}, a matrix of centers, or a function f(inputs, k)"
    if isinstance(given, str):
        if given not in (RANDOM, KMEANS_PLUS_PLUS):
            raise UsageError(f"{where}: Unsupported initialization algorithm '{given}': initial_clusters is {ways}.")
        return given
    if callable(given):
        return given
    if isinstance(given, tf.Tensor) and not hasattr(given, "numpy"):
        raise UsageError(
            f"{where}: initial_clusters is a tensor of another graph, {given}. Pass an array, or a function "
            "f(inputs, k) that makes the tensor."
        )
    try:
        centers = np.asarray(given, np.float32)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: initial_clusters is {ways}, got {given!r}.") from None
    if centers.ndim != 2 or not len(centers):
        raise UsageError(
            f"{where}: initial_clusters is {ways}; a matrix [clusters, dimensions] has a row for each center, got the "
            f"shape {centers.shape}."
        )
    return centers
