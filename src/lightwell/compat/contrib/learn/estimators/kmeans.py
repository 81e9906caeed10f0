"""`tf.contrib.learn.KMeansClustering`, over `KMeans` of `tf.estimator`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.compat.contrib.learn.estimators.base import BaseEstimator
from lightwell.compat.contrib.learn.estimators.constants import ProblemType
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps
from lightwell.estimator.canned.kmeans import KMeans


class KMeansClustering(BaseEstimator):
    """Groups points around centers, without labels.

    Args:
        num_clusters: how many centers.
        model_dir: the folder of checkpoints and events.
        initial_clusters: `RANDOM_INIT`, `KMEANS_PLUS_PLUS_INIT`, a matrix of centers, or a function.
        distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
        random_seed: of the first centers.
        use_mini_batch: whether a step sees a batch of the points; if not, all of them.
        mini_batch_steps_per_iteration: after how many batches the centers move.
        kmeans_plus_plus_num_retries: how many more points to draw for each center of k-means++.
        relative_tolerance: training stops once a step changes the loss by less than this share.
        config: a `learn.RunConfig`.
    """

    SQUARED_EUCLIDEAN_DISTANCE: ClassVar[str] = KMeans.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE: ClassVar[str] = KMeans.COSINE_DISTANCE
    RANDOM_INIT: ClassVar[str] = KMeans.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT: ClassVar[str] = KMeans.KMEANS_PLUS_PLUS_INIT
    SCORES: ClassVar[str] = "scores"
    CLUSTER_IDX: ClassVar[str] = "cluster_idx"
    CLUSTERS: ClassVar[str] = KMeans.CLUSTER_CENTERS_VAR_NAME
    ALL_SCORES: ClassVar[str] = "all_scores"
    LOSS_OP_NAME: ClassVar[str] = "kmeans_loss"

    def __init__(
        self,
        num_clusters: int,
        model_dir: Any = None,
        initial_clusters: Any = KMeans.RANDOM_INIT,
        distance_metric: str = KMeans.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ) -> None:
        self._kmeans = KMeans(
            num_clusters,
            model_dir,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries,
            relative_tolerance,
            config,
        )
        super().__init__(self._kmeans.model_dir, config)

    def clusters(self) -> np.ndarray[Any, Any]:
        """The centers, `[num_clusters, dimensions]`."""
        return self._kmeans.cluster_centers()

    def predict_cluster_idx(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """For each point, the number of the center that is nearest."""
        return (row[self.CLUSTER_IDX] for row in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]))

    def score(self, input_fn: Callable[[], Any] | None = None, steps: int | None = None) -> Any:
        """The sum of the distances of points to their centers; squared ones by the Euclidean metric."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Callable[[], Any] | None = None, as_iterable: bool = False) -> Any:
        """For each point, its distances to all centers; squared ones by the Euclidean metric."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return (row[self.ALL_SCORES] for row in found) if as_iterable else found[self.ALL_SCORES]

    def _ops(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        made = self._kmeans.model_fn(features=features, labels=None, mode=mode, config=self.config)
        predictions = {
            self.ALL_SCORES: made.predictions[KMeans.ALL_DISTANCES],
            self.CLUSTER_IDX: made.predictions[KMeans.CLUSTER_INDEX],
        }
        metrics = {self.SCORES: tf.compat.v1.metrics.mean(made.loss)} if mode == ModeKeys.EVAL else {}
        return ModelFnOps(
            mode,
            predictions,
            made.loss,
            made.train_op,
            metrics,
            {None: (ProblemType.UNSPECIFIED, predictions)},
            training_hooks=made.training_hooks,
        )
