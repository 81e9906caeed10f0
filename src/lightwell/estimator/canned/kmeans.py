"""`KMeans`: groups points around centers, without labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, ModeKeys
from lightwell.errors import ModelFnError, UsageError
from lightwell.estimator.canned.clustering.distances import COSINE, METRICS, SQUARED_EUCLIDEAN, Distances, distances
from lightwell.estimator.canned.clustering.first_centers import (
    KMEANS_PLUS_PLUS,
    RANDOM,
    ChooseFirstCenters,
    FirstCenters,
    checked_method,
)
from lightwell.estimator.canned.clustering.points import points_of
from lightwell.estimator.canned.clustering.state import CENTERS, ClusterState, new_state
from lightwell.estimator.canned.clustering.stop_when_settled import StopWhenSettled
from lightwell.estimator.canned.clustering.updates import move_centers
from lightwell.estimator.canned.columns import column_list
from lightwell.estimator.canned.spec import refuse_replicas
from lightwell.estimator.core import Estimator
from lightwell.model.layers.record import BookCall
from lightwell.model.outputs import PredictOutput
from lightwell.model.spec import EstimatorSpec
from lightwell.run.config import RunConfig

_v1 = tf.compat.v1


class KMeans(Estimator):
    """Groups points around `num_clusters` centers.

        kmeans = tf.compat.v1.estimator.experimental.KMeans(5, use_mini_batch=False)
        kmeans.train(points_input_fn, steps=20)
        kmeans.cluster_centers()
        list(kmeans.predict_cluster_index(points_input_fn))

    `input_fn` gives float32 points `[batch, dimensions]`, or a dict of features, and no labels.

    Args:
        num_clusters: how many centers; not needed where `initial_clusters` is a matrix.
        model_dir: see `Estimator`.
        initial_clusters: `RANDOM_INIT` draws points from the first batches; `KMEANS_PLUS_PLUS_INIT` chooses points of
            the first batch that are far apart; a matrix gives the centers; a function `f(inputs, k)` takes a list with
            the batch and gives up to `k` centers, batch after batch until all are chosen.
        distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
        seed: the seed of the first centers.
        use_mini_batch: whether a step sees a batch of the points; if not, `input_fn` gives all of them at once.
        mini_batch_steps_per_iteration: after how many batches the centers move.
        kmeans_plus_plus_num_retries: how many more points to draw for each center of k-means++, of which the best is
            taken; by the logarithm of `num_clusters` if negative.
        relative_tolerance: training stops once a step changes the loss by less than this share.
        config: a `RunConfig`.
        feature_columns: which features to use, and how; all if None.
    """

    SQUARED_EUCLIDEAN_DISTANCE: ClassVar[str] = SQUARED_EUCLIDEAN
    COSINE_DISTANCE: ClassVar[str] = COSINE
    RANDOM_INIT: ClassVar[str] = RANDOM
    KMEANS_PLUS_PLUS_INIT: ClassVar[str] = KMEANS_PLUS_PLUS
    SCORE: ClassVar[str] = "score"
    CLUSTER_INDEX: ClassVar[str] = "cluster_index"
    ALL_DISTANCES: ClassVar[str] = "all_distances"
    CLUSTER_CENTERS_VAR_NAME: ClassVar[str] = CENTERS

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM,
        distance_metric: str = SQUARED_EUCLIDEAN,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Any = None,
    ) -> None:
        where = type(self).__name__
        if distance_metric not in METRICS:
            raise UsageError(f"{where}: Unsupported distance metric '{distance_metric}': it is one of {list(METRICS)}.")
        self._distance_metric = distance_metric
        method = checked_method(initial_clusters, where)
        model = KMeansModel(
            where=where,
            number=len(method) if isinstance(method, np.ndarray) else _checked_number(num_clusters, where),
            first=FirstCenters(where, method, distance_metric, seed, kmeans_plus_plus_num_retries),
            metric=distance_metric,
            in_batches=bool(use_mini_batch),
            steps=int(mini_batch_steps_per_iteration),
            tolerance=relative_tolerance,
            columns=None if feature_columns is None else column_list(feature_columns, where),
        )
        super().__init__(model, model_dir, config)

    def cluster_centers(self) -> np.ndarray:
        """The centers, `[num_clusters, dimensions]`."""
        return np.asarray(self.get_variable_value(CENTERS))

    def predict_cluster_index(self, input_fn: Any) -> Iterator[Any]:
        """For each point, the number of the center that is nearest."""
        return (row[self.CLUSTER_INDEX] for row in self.predict(input_fn, predict_keys=self.CLUSTER_INDEX))

    def score(self, input_fn: Any) -> Any:
        """The sum of the distances of the points of a batch to their centers; squared ones by the Euclidean metric."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """For each point, its distances to all centers; not squared."""
        for row in self.predict(input_fn, predict_keys=self.ALL_DISTANCES):
            values = row[self.ALL_DISTANCES]
            # The square of a short distance is a difference of large numbers, and may be negative.
            yield np.sqrt(np.maximum(values, 0)) if self._distance_metric == SQUARED_EUCLIDEAN else values


@dataclass(frozen=True)
class KMeansModel:
    """The `model_fn` of k-means.

    Attributes:
        where: the model, for errors.
        number: how many centers.
        first: how the first ones are chosen.
        metric: the distance metric.
        in_batches: whether a step sees a batch of the points, and not all.
        steps: how many steps make an iteration.
        tolerance: the change of the loss below which training stops.
        columns: which features to use.
    """

    where: str
    number: int
    first: FirstCenters
    metric: str
    in_batches: bool
    steps: int
    tolerance: float | None
    columns: tuple[Any, ...] | None

    def __call__(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        if labels is not None:
            raise ModelFnError(
                f"{self.where}: model_fn does not take labels, but input_fn returns labels. Points are grouped without "
                "labels: let input_fn return features only, as dataset.map(lambda features, labels: features) does."
            )
        if mode == ModeKeys.TRAIN:
            refuse_replicas(self.where, "moves its centers by the points of one batch after the other")
        passing = BookCall(name="kmeans/points", kind="Points")
        points = passing.pass_outputs(points_of(passing.pass_inputs(features), self.columns, self.where), variables=[])
        state = new_state(self.number, points.shape[-1], in_batches=self.in_batches, steps=self.steps)
        measured = self._distances(points, state)
        loss = tf.reduce_sum(measured.to_nearest)
        _v1.summary.scalar("loss/raw", loss)
        train_op, hooks = None, []
        if mode == ModeKeys.TRAIN:
            hooks = [ChooseFirstCenters(self.first.choice(points, state), config.is_chief)]
            if self.tolerance is not None:
                hooks.append(StopWhenSettled(loss, self.tolerance))
            with tf.control_dependencies([move_centers(state, measured, self.steps, self.metric)]):
                train_op = _v1.assign_add(_v1.train.get_global_step(), 1)
        index = PredictOutput(measured.nearest)
        return EstimatorSpec(
            mode,
            {KMeans.ALL_DISTANCES: measured.to_all, KMeans.CLUSTER_INDEX: measured.nearest},
            loss,
            train_op,
            eval_metric_ops={KMeans.SCORE: _v1.metrics.mean(loss)},
            export_outputs={
                KMeans.ALL_DISTANCES: PredictOutput(measured.to_all),
                KMeans.CLUSTER_INDEX: index,
                DEFAULT_SERVING_SIGNATURE: index,
            },
            training_hooks=hooks,
        )

    def _distances(self, points: Any, state: ClusterState) -> Distances:
        """The distances, recorded in the book."""
        has_centers = tf.debugging.assert_equal(
            state.chosen,
            True,
            message=f"{self.where}: there are no cluster centers yet. Call train first.",
        )
        to_all = BookCall(name="kmeans/distances", kind="DistancesToCenters")
        nearest = BookCall(name="kmeans/nearest", kind="NearestCenter")
        with tf.control_dependencies([has_centers]):
            centers, by_far, by_near = (
                state.centers.read_value(),
                to_all.pass_inputs(points),
                nearest.pass_inputs(points),
            )
            to_all_centers = near = distances(by_near, centers, self.metric)
            if by_far is not by_near:
                to_all_centers = distances(by_far, centers, self.metric)
        return Distances(
            near.points,
            to_all.pass_outputs(to_all_centers.to_all, variables=[state.centers]),
            nearest.pass_outputs(near.nearest, variables=[]),
            near.to_nearest,
        )


def _checked_number(num_clusters: Any, where: str) -> int:
    if isinstance(num_clusters, bool) or not hasattr(num_clusters, "__index__") or int(num_clusters) < 1:
        raise UsageError(f"{where}: num_clusters must be a whole number above 0, got {num_clusters!r}.")
    return int(num_clusters)
