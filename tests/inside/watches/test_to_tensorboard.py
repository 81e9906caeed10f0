"""What a watch writes for TensorBoard, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.inside.paths import models

import lightwell as lw

v1 = tf.compat.v1


def _events(directory: Path) -> dict[str, list[tuple[int, Any]]]:
    """Tag to its (step, value) pairs, from all event files of a directory."""
    found: dict[str, list[tuple[int, Any]]] = {}
    for file in sorted(directory.glob("events.*")):
        for event in v1.train.summary_iterator(str(file)):
            for value in event.summary.value:
                kind = value.WhichOneof("value")
                found.setdefault(value.tag, []).append((event.step, getattr(value, kind)))
    return found


@pytest.mark.parametrize("fuse_steps", ["auto", False])
def test_tags_steps_and_values(fuse_steps: Any, tmp_path: Path) -> None:
    values: dict[int, Any] = {}
    paths = ["loss", "weights/dense/bias", "layers/dense"]
    hooks = [
        lw.Watch("loss", "weights/dense/bias", lw.stats("layers/dense"), every=3, to="tensorboard"),
        lw.Watch(*paths, every=1, do=lambda step: values.update({step.global_step: dict(step)})),
        lw.Watch("labels", at=[2], to="tensorboard", do=lambda step: values.update(both=step.global_step)),
    ]
    models.estimator(models.mlp, tmp_path, fuse_steps=fuse_steps).train(models.data, steps=7, hooks=hooks)
    found = _events(tmp_path)
    assert [(step, pytest.approx(values[step]["loss"])) for step in (3, 6)] == found["loss"][-2:]
    for name, reduce in (("mean", np.mean), ("std", np.std), ("min", np.min), ("norm", np.linalg.norm)):
        expected = [(step, pytest.approx(reduce(values[step]["layers/dense"]), rel=1e-4)) for step in (3, 6)]
        assert found[f"layers/dense/{name}"] == expected
    (third, spread), _ = found["weights/dense/bias"]
    bias = values[3]["weights/dense/bias"]
    assert third == 3
    assert spread.num == bias.size
    assert (spread.min, spread.max) == (pytest.approx(bias.min()), pytest.approx(bias.max()))
    assert spread.sum == pytest.approx(bias.sum(), rel=1e-5)
    assert list(spread.bucket) == np.histogram(bias.astype(np.float64), 30)[0].tolist()
    assert len(spread.bucket_limit) == len(spread.bucket)
    assert [step for step, _ in found["labels"]] == [2]
    assert values["both"] == 2


def test_a_watch_that_only_writes_and_looks_often_writes_every_step(tmp_path: Path) -> None:
    losses: list[float] = []
    hooks = [lw.Watch("loss", "global_step", lw.stats("layers/*"), every=1, to="tensorboard")]
    made = models.estimator(models.mlp, tmp_path / "a")
    made.train(models.data, steps=20, hooks=hooks)
    other = models.estimator(models.mlp, tmp_path / "b", fuse_steps=False)
    other.train(models.data, steps=20, hooks=[lw.Watch("loss", every=1, do=lambda step: losses.append(step["loss"]))])
    found = _events(tmp_path / "a")
    assert [(step, value) for step, value in found["loss"]] == list(zip(range(1, 21), losses, strict=True))
    assert [value for _, value in found["global_step"]] == list(range(1, 21))
    assert len(found["layers/dense/mean"]) == 20


def test_evaluation_and_prediction_write_beside_their_own_events(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=3)
    made.evaluate(tiny.once, hooks=[lw.Watch("loss", every=2, to="tensorboard")], name="x")
    list(made.predict(tiny.once, hooks=[lw.Watch("features/x", every=2, to="tensorboard")]))
    assert [step for step, _ in _events(tmp_path / "eval_x")["loss"]] == [3, 3]  # ours, and that of the metrics
    assert [step for step, _ in _events(tmp_path / "predict")["features/x"]] == [3]


def test_names_that_tensorboard_cannot_show_are_changed(tmp_path: Path) -> None:
    made = models.estimator(models.everything, tmp_path)
    watch = lw.Watch(lw.stats("layers/shared:1", "layers/rnn/lstm_cell[0]"), at=[1], to="tensorboard")
    made.train(models.data, steps=1, hooks=[watch])
    assert {"layers/shared_1/mean", "layers/rnn/lstm_cell_0/mean"} <= _events(tmp_path).keys()
