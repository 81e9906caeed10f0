"""K-means to compare with the original: how each is made, on which points. The same code for both sides.

With batches of the points the original reads how many a center stands for while it counts them, in no fixed order: its
numbers differ from run to run. So those of a training are of all points at once; see `test_kmeans.py` for batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tests.canned.cases import Case

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
