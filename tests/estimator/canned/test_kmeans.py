"""KMeans: its methods, first centers as the original draws them, batches, taps, and what it says of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.canned import clusters
from tests.estimator.canned.clusters import CENTERS, POINTS
from tests.parity import recordings

import lightwell as lw
import lightwell.compat.v1.estimator as v1_face

DRAWN = recordings.load_arrays("canned_draws")
KMeans = v1_face.experimental.KMeans


def points(values: Any = POINTS, size: int = 24) -> Callable[[], Any]:
    return lambda: tf.data.Dataset.from_tensor_slices(values).batch(size)


@pytest.mark.parametrize("way", clusters.WAYS)
def test_first_centers_are_those_of_the_original(way: str, tmp_path: Path) -> None:
    np.testing.assert_allclose(clusters.first_centers(v1_face, way, str(tmp_path)), DRAWN[f"first:{way}"], rtol=1e-6)


def test_a_batch_moves_centers_to_the_mean_as_the_original_may(tmp_path: Path) -> None:
    ours = clusters.after_a_batch(v1_face, str(tmp_path))
    assert any(np.allclose(ours, drawn, rtol=1e-5) for name, drawn in DRAWN.items() if name.startswith("batch:"))
    batch = POINTS[:8]
    nearest = np.argmin(((batch[:, None] - CENTERS) ** 2).sum(-1), 1)
    for number, center in enumerate(CENTERS):
        np.testing.assert_allclose(ours[number], np.mean([center, *batch[nearest == number]], 0), rtol=1e-5)


def test_centers_move_after_so_many_batches(tmp_path: Path) -> None:
    kmeans = KMeans(3, str(tmp_path), CENTERS, mini_batch_steps_per_iteration=3)
    kmeans.train(clusters.in_batches, steps=3)
    np.testing.assert_array_equal(kmeans.cluster_centers(), CENTERS)
    assert kmeans.get_variable_value("update_in_steps") == 0
    nearest = np.argmin(((POINTS[:, None] - CENTERS) ** 2).sum(-1), 1)
    kmeans.train(clusters.in_batches, steps=1)
    means = [POINTS[nearest == number].mean(0) for number in range(3)]
    np.testing.assert_allclose(kmeans.cluster_centers(), means, rtol=1e-5)


def test_by_cosine_an_iteration_ends_with_centers_of_length_one(tmp_path: Path) -> None:
    whole = KMeans(3, str(tmp_path / "whole"), CENTERS, "cosine", use_mini_batch=False)
    whole.train(clusters.all_points(clusters.CASES["v1 KMeans cosine"]), steps=1)
    theirs = [[0.63389, 0.77342], [0.82996, 0.55783], [0.31035, 0.95062]]  # of tf.estimator 2.15.1
    np.testing.assert_allclose(whole.cluster_centers(), theirs, atol=1e-5)
    parts = KMeans(3, str(tmp_path / "parts"), CENTERS, "cosine", mini_batch_steps_per_iteration=3)
    parts.train(clusters.in_batches, steps=4)
    np.testing.assert_allclose(parts.cluster_centers(), theirs, atol=1e-5)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> Any:
    """All points, three centers."""
    kmeans = KMeans(3, str(tmp_path_factory.mktemp("kmeans")), CENTERS, use_mini_batch=False)
    return kmeans.train(clusters.all_points(clusters.CASES["v1 KMeans"]), steps=20)


def test_what_it_tells_of_points(trained: Any) -> None:
    far = np.sqrt(((POINTS[:, None] - trained.cluster_centers()) ** 2).sum(-1))
    np.testing.assert_allclose(list(trained.transform(points())), far, rtol=1e-3, atol=1e-4)
    indices = list(trained.predict_cluster_index(points(size=7)))
    assert indices == np.argmin(far, 1).tolist()
    score = trained.score(points(size=8))
    np.testing.assert_allclose(score, (far[:8].min(1) ** 2).sum(), rtol=1e-4)
    assert (trained.SCORE, trained.CLUSTER_CENTERS_VAR_NAME) == ("score", "clusters")


def test_it_is_open(trained: Any) -> None:
    seen: list[Any] = []
    other = KMeans(3, trained.model_dir, CENTERS, use_mini_batch=False)
    other.train(points(), hooks=[lw.Watch("layers/kmeans/distances", every=1, do=seen.append)], steps=1)
    assert len(seen) == 1
    row = next(trained.predict(points(), taps=["layers/kmeans/*"]))
    np.testing.assert_array_equal(row["layers/kmeans/points"], POINTS[0])
    np.testing.assert_array_equal(row["layers/kmeans/distances"], row["all_distances"])
    told = trained.describe(points())
    assert [weight.shape for layer in told.layers for weight in layer.weights] == [(3, 2)]
    assert "unknown" not in str(told)
    assert "DistancesToCenters" in str(told)
    assert trained.weights["clusters"].shape == (3, 2)


def test_it_stops_once_the_loss_is_settled(tmp_path: Path) -> None:
    case = clusters.CASES["v1 KMeans"]
    for tolerance, step in {0.33: 2, 0.31: 3, 0.005: 4}.items():  # as in tf.estimator 2.15.1
        model_dir = str(tmp_path / str(tolerance))
        kmeans = KMeans(3, model_dir, CENTERS, use_mini_batch=False, relative_tolerance=tolerance)
        kmeans.train(clusters.all_points(case), steps=40)
        assert kmeans.get_variable_value("global_step") == step


def test_a_function_chooses_the_first_centers(tmp_path: Path) -> None:
    kmeans = KMeans(4, str(tmp_path), lambda inputs, k: inputs[0][: tf.minimum(k, 2)], use_mini_batch=False)
    seen: list[Any] = []
    kmeans.train(
        lambda: tf.data.Dataset.from_tensor_slices(POINTS).batch(8),
        hooks=[lw.Watch("weights/clusters", every=1, do=seen.append)],
        steps=1,
    )
    assert kmeans.cluster_centers().shape == (4, 2)
    with pytest.raises(
        ValueError, match=r"KMeans: the function .* chose 8 centers where 3 were asked for. f\(inputs, k\)"
    ):
        KMeans(3, str(tmp_path / "b"), lambda inputs, k: inputs[0]).train(points(size=8))


MISTAKES: dict[str, tuple[Callable[[str], Any], type[Exception], str]] = {
    "metric": (
        lambda to: KMeans(3, to, distance_metric="manhattan"),
        ValueError,
        r"KMeans: Unsupported distance metric 'manhattan': it is one of \['squared_euclidean', 'cosine'\]",
    ),
    "way": (
        lambda to: KMeans(3, to, "first"),
        ValueError,
        r"Unsupported initialization algorithm 'first': initial_clusters is one of \['random', 'kmeans_plus_plus'\], a",
    ),
    "no way": (lambda to: KMeans(3, to, object()), ValueError, r"or a function f\(inputs, k\), got <object"),
    "vector": (lambda to: KMeans(3, to, CENTERS[0]), ValueError, r"a matrix \[clusters, dimensions\] .* shape \(2,\)"),
    "number": (lambda to: KMeans(0, to), ValueError, r"num_clusters must be a whole number above 0, got 0"),
    "too many": (
        lambda to: KMeans(30, to).train(points(size=8)),
        tf.errors.OutOfRangeError,
        r"KMeans: End of sequence: the data ended after 24 of 30 first centers were chosen. num_clusters must not",
    ),
    "far apart in a small batch": (
        lambda to: KMeans(10, to, "kmeans_plus_plus").train(points(size=8)),
        tf.errors.InvalidArgumentError,
        r"k-means\+\+ chooses all centers from the first batch, which has fewer points than num_clusters",
    ),
    "type": (
        lambda to: KMeans(3, to).train(points(POINTS.astype(np.float64))),
        TypeError,
        r"KMeans: features must be float32 numbers, got float64.*astype\(np.float32\)",
    ),
    "words": (
        lambda to: KMeans(3, to).train(points({"a": POINTS.astype(str), "b": POINTS})),
        TypeError,
        r"KMeans: the feature 'a' must be float32 numbers, got string.*for words, pass feature_columns",
    ),
    "shape": (
        lambda to: KMeans(3, to).train(points(POINTS[:, 0])),
        ValueError,
        r"must be a matrix \[batch, dimensions\], got the shape \(None,\)",
    ),
    "width": (
        lambda to: KMeans(3, to, np.zeros([3, 5])).train(points()),
        Exception,
        r"5",
    ),
    "labels": (
        lambda to: KMeans(3, to).train(points((POINTS, POINTS))),
        ValueError,
        r"KMeans: model_fn does not take labels, but input_fn returns labels. .* let input_fn return features only, as",
    ),
    "untrained": (
        lambda to: list(KMeans(3, to).predict(points())),
        tf.errors.InvalidArgumentError,
        r"KMeans: there are no cluster centers yet. Call train first",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_it_says_of_a_mistake(mistake: str, tmp_path: Path) -> None:
    make, kind, text = MISTAKES[mistake]
    with pytest.raises(kind, match=rf"(?s){text}"):
        make(str(tmp_path))


def test_gradients_that_tensorflow_has_not_are_told_with_their_path(tmp_path: Path) -> None:
    kmeans = KMeans(3, str(tmp_path), CENTERS)
    kmeans.train(points(), steps=1)
    text = r"'gradients/\S+' does not exist: .* the op 'NearestNeighbors' \(NearestNeighbors\), for which"
    for asked in ("gradients/*", "gradients/layers/kmeans/points"):
        with pytest.raises(lw.errors.PathError, match=text):
            kmeans.evaluate(points(), taps=[asked])
    assert "layers/kmeans/points" in kmeans.evaluate(points(), taps=["layers/kmeans/points"]).taps
