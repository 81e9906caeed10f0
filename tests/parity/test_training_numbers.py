"""The same model, weights and data give the numbers that tf.estimator 2.15 gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.parity import models, recordings
from tests.parity.recordings import CLOSE, Pair

import lightwell as lw


def test_every_loss_of_fifty_adam_steps(watched_run: Pair) -> None:
    assert len(watched_run.ours["losses"]) == 50
    np.testing.assert_allclose(watched_run.ours["losses"], watched_run.recorded["losses"], **CLOSE)


@pytest.mark.parametrize("which", ["evaluation", "evaluation_of_two_batches"])
def test_evaluate_gives_the_same_dict_in_the_same_order(watched_run: Pair, which: str) -> None:
    recorded, ours = watched_run.recorded[which], watched_run.ours[which]
    assert list(ours) == list(recorded)
    np.testing.assert_allclose(list(ours.values()), list(recorded.values()), **CLOSE)


def test_predict_gives_the_same_rows(watched_run: Pair) -> None:
    recorded, ours = watched_run.recorded["predictions"], watched_run.ours["predictions"]
    assert list(ours) == ["probabilities", "class", "logits"]
    for key, value in recorded.items():
        assert ours[key].dtype == value.dtype
        np.testing.assert_allclose(ours[key], value, **CLOSE, err_msg=key)


def test_variables_and_slots_have_the_same_names_and_shapes(watched_run: Pair) -> None:
    assert watched_run.ours["variables"] == watched_run.recorded["variables"]


def test_variables_and_slots_end_with_the_same_values(watched_run: Pair) -> None:
    for name, value in watched_run.recorded["values"].items():
        np.testing.assert_allclose(watched_run.ours["values"][name], value, **CLOSE, err_msg=name)


def test_steps_that_nobody_watches_give_the_same_numbers(unwatched_run: Pair) -> None:
    recorded, ours = unwatched_run.recorded, unwatched_run.ours
    assert ours["losses"] == []
    for name, value in recorded["values"].items():
        np.testing.assert_allclose(ours["values"][name], value, **CLOSE, err_msg=name)
    np.testing.assert_allclose(ours["loss_summaries"], recorded["loss_summaries"], **CLOSE)
    np.testing.assert_allclose(list(ours["evaluation"].values()), list(recorded["evaluation"].values()), **CLOSE)


def test_the_graph_seed_draws_the_same_weights_and_masks(tmp_path: Path) -> None:
    recorded: dict[str, Any] = recordings.load_arrays("seeded_start")
    losses = models.Losses()
    config = lw.RunConfig(tf_random_seed=42, save_checkpoints_steps=100)
    lw.Estimator(models.seeded(lw), str(tmp_path), config).train(
        models.input_fn("mlp", repeat=True), steps=3, hooks=[losses]
    )
    for name, value in recordings.under("values", recorded).items():
        drawn = tf.train.load_variable(str(tmp_path / "model.ckpt-0"), name)
        np.testing.assert_allclose(drawn, value, **CLOSE, err_msg=name)
    np.testing.assert_allclose(losses.seen, recorded["losses"], **CLOSE)
