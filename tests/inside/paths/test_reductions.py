"""Reductions, in the graph and of arrays, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.inside.paths.reductions import Histogram, Stats, histogram_of, stats_of

v1 = tf.compat.v1
_random = np.random.default_rng(2)
ARRAYS = {
    "normal": _random.normal(3, 2, size=(7, 5, 3)).astype(np.float32),
    "half": _random.normal(size=(9,)).astype(np.float16),
    "double": _random.normal(1e6, 1, size=(4, 4)),
    "relu": np.maximum(_random.normal(size=(50,)), 0).astype(np.float32),
    "ids": np.array([2**40, 2**40 + 1, 5], np.int64),
    "small": np.array([[1, 2], [3, 255]], np.uint8),
    "flags": np.array([True, False, True]),
    "constant": np.full([6], 7.5, np.float32),
    "large constant": np.full([6], 1e10, np.float32),
    "scalar": np.float32(4.0),
    "empty": np.zeros([0, 3], np.float32),
    "broken": np.array([1, np.nan, np.inf, -2], np.float32),
}


@pytest.fixture(scope="module")
def run() -> Iterator[Any]:
    with tf.Graph().as_default(), v1.Session() as session:
        yield session.run


@pytest.mark.parametrize("name", ARRAYS)
def test_stats(name: str, run: Any) -> None:
    array = ARRAYS[name]
    reduction = lw.stats("layers/*")
    in_graph, of_array = reduction.read(run(reduction.builder()(tf.constant(array)))), stats_of(array)
    x = np.asarray(array, np.float64).ravel()
    if name == "empty":
        assert math.isnan(in_graph.mean)
        assert math.isnan(of_array.zeros)
        assert in_graph.norm == of_array.norm == 0
        return
    with np.errstate(invalid="ignore"):
        expected = [x.mean(), x.std(), np.sqrt(np.mean(x**2)), x.min(), x.max(), np.mean(x == 0), np.linalg.norm(x)]
    for found in (in_graph, of_array):
        assert isinstance(found, Stats)
        np.testing.assert_allclose(list(found.as_dict().values()), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("bins", [1, 5, 30])
@pytest.mark.parametrize("name", ARRAYS)
def test_histograms(name: str, bins: int, run: Any) -> None:
    array = ARRAYS[name]
    reduction = lw.histogram("layers/*", bins=bins)
    in_graph, of_array = reduction.read(run(reduction.builder()(tf.constant(array)))), histogram_of(array, bins)
    x = np.asarray(array, np.float64).ravel()
    x = x[np.isfinite(x)]
    for found in (in_graph, of_array):
        assert isinstance(found, Histogram)
        assert len(found.counts) == bins
        assert len(found.edges) == bins + 1
        assert found.counts.sum() == x.size
        np.testing.assert_allclose([found.sum, found.sum_squares], [x.sum(), np.square(x).sum()], rtol=1e-5)
        if x.size:
            assert found.edges[0] == pytest.approx(x.min())
            assert found.edges[-1] >= x.max() - 1e-6
    if x.size and x.max() > x.min():
        counts, edges = np.histogram(x, bins)
        np.testing.assert_allclose(in_graph.edges, edges, rtol=1e-6, atol=1e-6)
        # An element that lies on an edge may fall on either side of it.
        assert np.abs(in_graph.counts - counts).sum() <= 2
        np.testing.assert_array_equal(of_array.counts, counts)


def test_sparse_and_ragged_values_count_what_they_hold(run: Any) -> None:
    sparse = tf.SparseTensor([[0, 0], [2, 1]], [1.0, 3.0], [3, 2])
    ragged = tf.ragged.constant([[1.0], [], [3.0]])
    for value in (sparse, ragged):
        reduction = lw.stats("features")
        assert reduction.read(run(reduction.builder()(value))).mean == 2
        assert reduction.of_array(run(value)).mean == 2


def test_many_tensors_are_reduced_by_one_function() -> None:
    with tf.Graph().as_default() as graph:
        build = lw.stats("layers/*").builder()
        before = len(graph.get_operations())
        for _ in range(10):
            build(tf.zeros([3, 4]))
        assert len(graph.as_graph_def().library.function) == 1
        assert len(graph.get_operations()) - before <= 10 * 10


@pytest.mark.parametrize("bins", [0, -1, 2.5, True, "many"])
def test_bins_must_be_a_number(bins: Any) -> None:
    with pytest.raises(lw.errors.UsageError, match="histogram: bins must be a whole number of at least 1, got"):
        lw.histogram("layers/*", bins=bins)
