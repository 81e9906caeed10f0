"""The first centers: a matrix of the user, random points, or k-means++.

`ChooseFirstCenters` is the hook that takes batches until all centers are chosen, before the first step. A resumed
training has its centers and takes no batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import InputFnError, UsageError
from lightwell.estimator.canned.clustering.distances import COSINE, of_length_one
from lightwell.estimator.canned.clustering.state import ClusterState
from lightwell.run.hooks.base import ScheduledHook

_v1 = tf.compat.v1
RANDOM, KMEANS_PLUS_PLUS = "random", "kmeans_plus_plus"
_POLL_SECS = 0.1


class TooFewPoints(InputFnError, tf.errors.OutOfRangeError):
    """The data ended before all centers were chosen."""

    def __init__(self, message: str) -> None:
        tf.errors.OutOfRangeError.__init__(self, None, None, message)


@dataclass(frozen=True)
class FirstCenters:
    """How the first centers are chosen.

    Attributes:
        where: the model, for errors.
        method: `RANDOM`, `KMEANS_PLUS_PLUS`, a matrix, or a function of the user.
        metric: the distance metric.
        seed: the random seed.
        retries: of k-means++: how many more points to draw, of which the best is taken.
    """

    where: str
    method: Any
    metric: str
    seed: int | None
    retries: int

    def choice(self, points: Any, state: ClusterState) -> FirstChoice:
        """The ops for the hook: centers from a batch, and the op that stores all centers."""
        missing = _v1.placeholder_with_default(state.number, [])
        new = self._centers_from(points, missing)
        if self.metric == COSINE:
            new = of_length_one(new)
        fed_centers = _v1.placeholder_with_default(tf.zeros([0, 0], points.dtype), None)
        centers = [state.centers.assign(fed_centers, read_value=False)]
        if state.steps_left is not None:
            centers.append(state.next_centers.assign(fed_centers, read_value=False))
        with tf.control_dependencies(centers):
            store = state.chosen.assign(True, read_value=False)
        return FirstChoice(self.where, state.number, missing, new, fed_centers, store, state.chosen.read_value())

    def _centers_from(self, points: Any, missing: Any) -> Any:
        if isinstance(self.method, np.ndarray):
            return tf.constant(self.method)
        if callable(self.method):
            centers = self.method([points], missing)
            return tf.concat(centers, 0) if isinstance(centers, list | tuple) else tf.convert_to_tensor(centers)
        rows = tf.shape(points)[0]
        if self.method == KMEANS_PLUS_PLUS:
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
        return tf.cond(rows <= missing, lambda: tf.identity(points), lambda: self._random_points(points, missing, rows))

    def _random_points(self, points: Any, missing: Any, rows: Any) -> Any:
        """Random points, possibly with repetitions, as in `tf.estimator`."""
        size, end = tf.reshape(missing, [-1]), tf.cast(rows, tf.int64)
        return tf.gather(points, tf.random.uniform(size, maxval=end, dtype=tf.int64, seed=self._op_seed()))

    def _op_seed(self) -> int | None:
        """As in `tf.estimator`, a seed of the `RunConfig` takes precedence over that of the model."""
        seed: int | None = _v1.random.get_seed(self.seed)[0]
        return seed


@dataclass(frozen=True)
class FirstChoice:
    """The tensors and ops that choose the first centers.

    Attributes:
        where: the model, for errors.
        number: the number of centers.
        missing: a placeholder for the number of centers still to choose.
        new: up to that many centers from the next batch.
        centers: a placeholder for all centers.
        store: the op that stores them.
        is_done: whether they are stored.
    """

    where: str
    number: int
    missing: Any
    new: Any
    centers: Any
    store: Any
    is_done: Any

    def run(self, session: Any) -> None:
        """Takes batches until all centers are chosen, and stores them.

        Raises:
            TooFewPoints: the data ended before.
            UsageError: a function of the user chose too many.
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
        session.run(self.store, {self.centers: np.stack(chosen)})


class ChooseFirstCenters(ScheduledHook):
    """Chooses the centers once the session is open, and sees no step.

    Args:
        choice: the ops to run.
        is_chief: whether this process chooses; others wait.
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
                time.sleep(_POLL_SECS)


def checked_method(initial_clusters: Any, where: str) -> str | np.ndarray | Callable[..., Any]:
    """The argument `initial_clusters`, validated.

    Raises:
        UsageError: it is invalid.
    """
    options = f"one of {[RANDOM, KMEANS_PLUS_PLUS]}, a matrix of centers, or a function f(inputs, k)"
    if isinstance(initial_clusters, str):
        if initial_clusters not in (RANDOM, KMEANS_PLUS_PLUS):
            raise UsageError(
                f"{where}: Unsupported initialization algorithm '{initial_clusters}': initial_clusters is {options}."
            )
        return initial_clusters
    if callable(initial_clusters):
        return initial_clusters
    if isinstance(initial_clusters, tf.Tensor) and not hasattr(initial_clusters, "numpy"):
        raise UsageError(
            f"{where}: initial_clusters is a tensor of another graph, {initial_clusters}. Pass an array, or a function "
            "f(inputs, k) that makes the tensor."
        )
    try:
        centers = np.asarray(initial_clusters, np.float32)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: initial_clusters is {options}, got {initial_clusters!r}.") from None
    if centers.ndim != 2 or not len(centers):
        raise UsageError(
            f"{where}: initial_clusters is {options}; a matrix [clusters, dimensions] has a row for each center, got "
            f"the shape {centers.shape}."
        )
    return centers
