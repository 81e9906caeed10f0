"""K-means to compare with the original: how each is made, on which points. The same code for both sides.

With batches of the points the original reads how many a center stands for while it counts them, in no fixed order: its
numbers differ from run to run. So those of a training are of all points at once; see `test_kmeans.py` for batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tests.estimator.canned.cases import Case

v1 = tf.compat.v1
POINTS = np.random.RandomState(0).rand(24, 2).astype(np.float32)
CENTERS = POINTS[:3] + 0.1


def all_points(case: Case, repeat: int | None = None) -> Callable[[], Any]:
    """All points at once, without end."""
    return lambda: tf.data.Dataset.from_tensors(POINTS).repeat(repeat)


def as_features(case: Case) -> Callable[[], Any]:
    """The same as features, of which one is not used."""
    features = {"right": POINTS[:, :1], "left": POINTS[:, 1:], "more": POINTS}
    return lambda: tf.data.Dataset.from_tensors(features).repeat()


def receiver_fn(api: Any) -> Any:
    """How a server is asked: points."""

    def give() -> Any:
        points = v1.placeholder(tf.float32, [None, 2])
        return api.export.TensorServingInputReceiver(points, points)

    return give


def features_receiver_fn(api: Any) -> Any:
    """How a server is asked: features."""

    def give() -> Any:
        features = {name: v1.placeholder(tf.float32, [None, 1]) for name in ("left", "right")}
        return api.export.ServingInputReceiver(features, features)

    return give


def _kmeans(**arguments: Any) -> Case:
    given = {"use_mini_batch": False, "initial_clusters": CENTERS, **arguments}
    columns = "feature_columns" in given
    return Case(
        "v1",
        lambda api, **more: api.experimental.KMeans(3, **given, **more),
        "",
        data=as_features if columns else all_points,
        receiver=features_receiver_fn if columns else receiver_fn,
    )


CASES: dict[str, Case] = {
    "v1 KMeans": _kmeans(),
    "v1 KMeans cosine": _kmeans(distance_metric="cosine"),
    "v1 KMeans columns": _kmeans(
        feature_columns=[tf.feature_column.numeric_column("right"), tf.feature_column.numeric_column("left")]
    ),
}

WAYS: dict[str, dict[str, Any]] = {
    "random": {},
    "random with a seed": {"seed": 9},
    "random of small batches": {"num_clusters": 10},
    "far apart": {"initial_clusters": "kmeans_plus_plus"},
    "far apart with a seed": {"initial_clusters": "kmeans_plus_plus", "seed": 9},
    "cosine": {"distance_metric": "cosine"},
}


def in_batches() -> Any:
    """Batches of eight, without end."""
    return tf.data.Dataset.from_tensor_slices(POINTS).repeat().batch(8)


def first_centers(api: Any, way: str, model_dir: str) -> Any:
    """The centers before the first step."""
    seen = []

    class Look(v1.train.SessionRunHook):  # type: ignore[misc]
        def begin(self) -> None:
            self.centers = v1.get_default_graph().get_tensor_by_name("clusters/Read/ReadVariableOp:0")

        def before_run(self, run_context: Any) -> None:
            seen.append(run_context.session.run(self.centers))

    config = api.RunConfig(model_dir=model_dir, tf_random_seed=3)
    api.experimental.KMeans(**{"num_clusters": 3, **WAYS[way]}, config=config).train(
        in_batches, steps=1, hooks=[Look()]
    )
    return seen[0]


def after_a_batch(api: Any, model_dir: str, **arguments: Any) -> Any:
    """The centers after one step over a batch of points."""
    kmeans = api.experimental.KMeans(3, model_dir, CENTERS, **arguments)
    kmeans.train(in_batches, steps=1)
    return kmeans.cluster_centers()
