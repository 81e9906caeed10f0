"""Weights that stay and values that are changed on their way, on every replica of a strategy as on one device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.edits import models
from tests.parity import replica_runs as runs
from tests.run.engine import test_frozen_weights as towers

import lightwell as lw
from lightwell.errors import UsageError

OPTIMIZERS = ["adam", "branch", "decayed", "keras_adamw"]
FROZEN = "adam/frozen/kernel", "adam/norm/moving_mean", "keras_adamw/frozen/kernel", "branch/frozen/kernel"


def on_replicas(count: int) -> dict[str, Any]:
    strategy = runs.strategy_of(count)
    return {"train_distribute": strategy, "eval_distribute": strategy}


def in_towers(directory: Path, count: int, names: list[str]) -> lw.Estimator:
    config = lw.RunConfig(tf_random_seed=3, save_summary_steps=None, keep_checkpoint_max=None, **on_replicas(count))
    return lw.Estimator(towers.model_fn, str(directory), config, params={"towers": names})


def weights(estimator: Any) -> dict[str, Any]:
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def test_not_a_bit_of_frozen_weights_moves_on_any_replica(tmp_path: Path) -> None:
    of_each = [f"weights/{name}@replica:{number}" for name in FROZEN for number in (0, 1)]
    told: list[Any] = []
    watch = lw.Watch(of_each, every=1, do=told.append)
    made = in_towers(tmp_path, 2, OPTIMIZERS).train(towers.data, steps=5, freeze=towers.FROZEN, hooks=[watch])
    after = towers.values(made)
    made.revert()
    moved = towers.moved(towers.values(made), after)
    assert {f"{name}/free/kernel" for name in OPTIMIZERS} <= moved
    assert not [name for name in moved if towers.is_frozen(name)]
    for path in of_each:
        first = made.weights[path.removeprefix("weights/").partition("@")[0]]
        assert all(step[path].tobytes() == first.tobytes() for step in told), path


def test_weights_of_another_rate_move_as_on_one_device(tmp_path: Path) -> None:
    slow = lw.rates({"*/frozen": 0.5, "adam/norm": 0.0})
    alone, both = (
        weights(in_towers(tmp_path / str(count), count, ["adam"]).train(towers.data, steps=4, rates=slow))
        for count in (1, 2)
    )
    for name, value in alone.items():
        np.testing.assert_allclose(both[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def _clipped(gradients: list[Any]) -> Any:
    return tf.clip_by_global_norm([3.0 * one for one in gradients], 0.5)[0]


def test_an_edit_is_what_is_written_by_hand_into_the_model_of_each_replica(tmp_path: Path) -> None:
    zeroed = lw.zero("layers/dense", unit=[1, 3])
    by_hand = models.mlp(lambda x: x * tf.constant([1.0, 0, 1, 0, 1, 1, 1, 1]), clip=_clipped)
    edited = models.estimator(models.mlp(), tmp_path / "edited", **on_replicas(2))
    written = models.estimator(by_hand, tmp_path / "by_hand", **on_replicas(2))
    of_gradients = [lw.scale("gradients/*", 3.0), lw.clip("gradients/*", global_norm=0.5)]
    edited.train(models.data, steps=3, edits=[zeroed, *of_gradients])
    written.train(models.data, steps=3)
    for name, value in weights(written).items():
        np.testing.assert_array_equal(edited.get_variable_value(name), value, err_msg=name)
    assert edited.evaluate(models.once, edits=[zeroed]) == written.evaluate(models.once)
    with pytest.raises(UsageError, match=r"on every replica of the model. Write 'layers/dense', without @replica:1"):
        edited.evaluate(models.once, edits=[lw.zero("layers/dense@replica:1")])


def test_rows_of_an_array_go_to_the_replicas_in_order(tmp_path: Path) -> None:
    """Also where the last batches are not enough for all of them."""
    rows = lw.replace("layers/dense", np.random.RandomState(1).randn(12, 8).astype("f4"))
    alone = models.estimator(models.mlp(), tmp_path).train(models.data, steps=1)
    several = models.estimator(models.mlp(), tmp_path, **on_replicas(4))
    ours = several.evaluate(models.once, edits=[rows])
    assert ours == pytest.approx(alone.evaluate(models.once, edits=[rows]), rel=1e-5)


def test_a_weight_that_a_watch_edits_changes_on_all_replicas(tmp_path: Path) -> None:
    paths = [f"weights/{name}@replica:{n}" for name in ("adam/free/kernel", "adam/norm/moving_mean") for n in (0, 1)]
    told: list[Any] = []

    def edit(step: Any) -> None:
        told.append(step)
        if step.global_step == 1:
            step.edit("weights/adam/free/kernel", lambda value: value * 0 + 7)
            step.edit("weights/adam/norm/moving_mean", lambda value: value * 0 + 7)

    in_towers(tmp_path, 2, ["adam"]).train(towers.data, steps=2, hooks=[lw.Watch(paths, every=1, do=edit)])
    for path in paths:
        np.testing.assert_allclose(told[1][path], 7.0, atol=0.2, err_msg=path)
