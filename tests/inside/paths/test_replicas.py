"""Paths under a strategy: rows joined in order, statistics of all of them, one replica by its number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.parity import replica_runs as runs

import lightwell as lw
from lightwell.errors import PathError

PATHS = [
    *("features/x", "labels", "layers/dense", "layers/dense_1/input", "weights/dense/kernel", "loss"),
    *("gradients/weights/dense/kernel", "gradients/layers/dense", "updates/weights/dense/kernel"),
]


def made(count: int, directory: Path) -> Any:
    return runs.models(lw, lw.layers)["momentum"](runs.config_of(lw, count, str(directory)))


def watched(count: int, directory: Path, asked: list[Any]) -> list[Any]:
    told: list[Any] = []
    made(count, directory).train(
        lambda: runs.batches(8 // count), steps=2, hooks=[lw.Watch(*asked, every=1, do=told.append)]
    )
    return told


def test_what_is_read_is_that_of_the_joined_batch(tmp_path: Path) -> None:
    alone, both = (watched(count, tmp_path / str(count), PATHS) for count in (1, 2))
    for one, two in zip(alone, both, strict=True):
        for path in PATHS:
            np.testing.assert_allclose(two[path], one[path], rtol=1e-4, atol=1e-5, err_msg=path)


def test_statistics_are_those_of_all_examples(tmp_path: Path) -> None:
    alone, both = (watched(count, tmp_path / str(count), [lw.stats("layers/dense")]) for count in (1, 2))
    for one, two in zip(alone, both, strict=True):
        for name in ("mean", "std", "min", "max"):
            ours, expected = getattr(two["layers/dense"], name), getattr(one["layers/dense"], name)
            np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-6, err_msg=name)


def test_one_replica_is_asked_for_by_its_number(tmp_path: Path) -> None:
    of_one = [f"{path}@replica:{number}" for path in ("layers/dense", "loss") for number in (0, 1)]
    (told, _) = watched(2, tmp_path, ["layers/dense", "loss", *of_one])
    np.testing.assert_array_equal(told["layers/dense"], np.concatenate([told[path] for path in of_one[:2]]))
    assert told["loss"] == pytest.approx((told["loss@replica:0"] + told["loss@replica:1"]) / 2)


def test_a_replica_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="replica:2"):
        watched(2, tmp_path, ["layers/dense@replica:2"])


def test_taps_of_an_evaluation_leave_out_what_a_replica_had_no_batch_for(tmp_path: Path) -> None:
    alone = made(1, tmp_path).train(runs.batches, steps=1)
    once = [one.evaluate(lambda: runs.batches().take(3), taps=["layers/dense"]) for one in (alone, made(2, tmp_path))]
    one, two = (result.taps["layers/dense"] for result in once)
    for name in ("mean", "std", "min", "max"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_model_is_described_as_on_one_device(tmp_path: Path) -> None:
    assert str(made(2, tmp_path).describe(runs.batches)) == str(made(1, tmp_path).describe(runs.batches))


def test_updates_of_statistics_that_replicas_keep_apart_are_those_of_their_mean(tmp_path: Path) -> None:
    """In the first step, in which all replicas begin with the same weights."""
    path, told = "updates/weights/batch_normalization/moving_mean", []
    for count in (1, 2):
        model = runs.models(lw, lw.layers)["batch_norm"](runs.config_of(lw, count, str(tmp_path / str(count))))
        model.train(
            lambda count=count: runs.batches(8 // count), steps=1, hooks=[lw.Watch(path, every=1, do=told.append)]
        )
    np.testing.assert_allclose(told[1][path], told[0][path], rtol=1e-4, atol=1e-6)


def test_an_old_hook_fetches_by_path_over_all_replicas(tmp_path: Path) -> None:
    seen: list[Any] = []

    class Fetching(tf.compat.v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            asked = {"x": "features/x", "all": "layers/dense", "second": "layers/dense@replica:1", "bare": "dense_1"}
            return tf.compat.v1.train.SessionRunArgs(asked)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(run_values.results)

    made(2, tmp_path).train(runs.batches, steps=1, hooks=[Fetching()])
    expected = np.concatenate([features["x"].numpy() for features, _ in runs.batches().take(2)])
    np.testing.assert_array_equal(seen[0]["x"], expected)
    np.testing.assert_array_equal(seen[0]["all"][4:], seen[0]["second"])
    assert seen[0]["bare"].shape == (8, 1)
