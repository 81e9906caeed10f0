"""Checkpoints as an axis: what a model was at each, and two of them side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.captures import models
from tests.terminal import terminal

import lightwell as lw
from lightwell.errors import CheckpointUnreadable, PathError, UsageError


@pytest.fixture(scope="module")
def est(tmp_path_factory: pytest.TempPathFactory) -> lw.Estimator:
    return models.trained(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def timeline(est: lw.Estimator) -> Any:
    return est.over_checkpoints(models.data, taps=["layers/dense"], values=["layers/logits"], weights=["*/kernel"])


def test_each_checkpoint_is_as_evaluate_finds_it(est: lw.Estimator, timeline: Any) -> None:
    assert timeline.steps.tolist() == [0, 10, 20]
    for place, checkpoint in enumerate(timeline.checkpoints):
        alone = est.evaluate(models.data, checkpoint_path=checkpoint, taps=["layers/dense"])
        assert timeline["metrics/accuracy"][place] == alone["accuracy"]
        assert timeline["loss"][place] == alone["loss"]
        np.testing.assert_array_equal(timeline["layers/dense"].mean[place], alone.taps["layers/dense"].mean)
        np.testing.assert_array_equal(timeline["layers/dense"].zeros[place], alone.taps["layers/dense"].zeros)
        rows = est.predict(models.data, checkpoint_path=checkpoint, taps=["layers/logits"])
        np.testing.assert_array_equal(timeline["layers/logits"][place], [row["layers/logits"] for row in rows])
        kernel = est.weights.at(checkpoint)["dense/kernel"]
        assert timeline["weights/dense/kernel"].norm[place] == pytest.approx(np.linalg.norm(kernel), rel=1e-6)
    assert timeline["layers/logits"].shape == (3, models.COUNT, 3)
    assert not (Path(est.model_dir) / "over_checkpoints").exists()


def test_under_edits_each_checkpoint_is_as_evaluate_finds_it(est: lw.Estimator) -> None:
    edits = [lw.zero("layers/conv2d", channel=0), lw.scale("layers/dense", 0.5)]
    found = est.over_checkpoints(models.data, edits=edits)
    for place, checkpoint in enumerate(found.checkpoints):
        alone = est.evaluate(models.data, checkpoint_path=checkpoint, edits=edits)
        assert found["loss"][place] == alone["loss"] != est.evaluate(models.data, checkpoint_path=checkpoint)["loss"]
    with pytest.raises(PathError, match=r"over_checkpoints\(edits=...\).*layers/dens"):
        est.over_checkpoints(models.data, edits=[lw.scale("layers/dens", 0.5)])
    with pytest.raises(UsageError, match="edits= change values that are computed from data"):
        est.over_checkpoints(weights="dense/kernel", edits=edits)


def test_weights_need_no_data(est: lw.Estimator) -> None:
    found = est.over_checkpoints(weights="dense/kernel", checkpoints=[20, "model.ckpt-10"])
    assert found.steps.tolist() == [10, 20]
    assert list(found) == ["weights/dense/kernel"]


def test_an_edited_checkpoint_comes_after_its_parent(tmp_path: Path) -> None:
    est = models.trained(tmp_path)
    with est.edit() as w:
        w["dense/kernel"] *= 0.0
    found = est.over_checkpoints(weights="dense/kernel")
    assert found.steps.tolist() == [0, 10, 20, 20]
    assert found["weights/dense/kernel"].norm[-1] == 0.0
    assert [line.split()[0] for line in str(found).splitlines()] == ["step", "0", "10", "20", "model.ckpt-edit1-20"]
    est.revert()
    assert est.over_checkpoints(weights="dense/kernel").checkpoints == found.checkpoints, "also once it is taken back"


def test_without_metrics_it_needs_no_labels(est: lw.Estimator, timeline: Any) -> None:
    found = est.over_checkpoints(
        lambda: models.data().map(lambda x, y: x), taps="layers/dense", metrics=False, checkpoints=[10, 20], steps=2
    )
    assert list(found) == ["layers/dense"]
    assert found["dense"].count.tolist() == [16, 16]


def test_it_prints_renders_and_plots(timeline: Any, tmp_path: Path) -> None:
    text = str(timeline)
    assert text.splitlines()[0].split()[:2] == ["step", "metrics/accuracy"]
    assert all(len(line) <= 80 for line in text.splitlines())
    assert f"{timeline['accuracy'][1]:.4g}" in text
    assert timeline.to_pandas().index.tolist() == [0, 10, 20]
    assert ">20</td>" in timeline._repr_html_()
    timeline.plot().savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000
    with pytest.raises(PathError, match="saw no 'layers/dens'; it saw 'layers/dense'"):
        timeline["layers/dens"]


def test_two_checkpoints_differ_as_they_should(est: lw.Estimator, tmp_path: Path) -> None:
    found = est.compare(10, 20, models.data, key="id")
    assert (found.first, found.second, found.examples) == ("model.ckpt-10", "model.ckpt-20", models.COUNT)
    assert [layer.path for layer in found.layers] == [
        f"layers/{one}" for one in ("conv2d", "flatten", "dense", "logits")
    ]
    one, other = (est.weights.at(f"{est.model_dir}/model.ckpt-{step}") for step in (10, 20))
    moved = sum(np.square(other[name] - one[name]).sum() for name in ("dense/kernel", "dense/bias"))
    norm = sum(np.square(one[name]).sum() for name in ("dense/kernel", "dense/bias"))
    assert found["dense"].drift == pytest.approx(np.sqrt(moved / norm), rel=1e-4)
    assert 0.5 < found["layers/dense"].alignment < 1
    before, after = (
        {row["features/id"].decode(): (row["class"], row["layers/dense"]) for row in rows}
        for rows in (
            est.predict(
                models.data,
                checkpoint_path=f"{est.model_dir}/model.ckpt-{step}",
                taps=["features/id", "layers/dense"],
            )
            for step in (10, 20)
        )
    )
    expected = [(key, before[key][0], after[key][0]) for key in before if before[key][0] != after[key][0]]
    assert [(one.key, one.before, one.after) for one in found.changed] == expected
    dead = [int((np.stack([row[1] for row in rows.values()]) == 0).all(0).sum()) for rows in (before, after)]
    assert [found["dense"].dead_before, found["dense"].dead_after] == dead
    assert found.decision == "predictions/class"
    text = str(found)
    assert "model.ckpt-10 → model.ckpt-20, 100 examples" in text
    assert f"is another for {len(expected)} examples" in text
    assert "<td" in found._repr_html_()
    json.dumps(found.to_dict())
    found.plot().savefig(tmp_path / "a.png")


def test_a_checkpoint_is_like_itself(est: lw.Estimator) -> None:
    found = est.compare("model.ckpt-20", 20, models.data, taps="dense")
    assert found["dense"].drift == 0
    assert found["dense"].alignment == pytest.approx(1)
    assert not found.changed


def test_texts(est: lw.Estimator) -> None:
    unseeded = lw.Estimator(models.pictures, est.model_dir)
    with pytest.raises(UsageError, match=r"other examples the second time.*seed its shuffling"):
        unseeded.compare(10, 20, lambda: models.data().unbatch().shuffle(100).batch(8))
    with pytest.raises(CheckpointUnreadable, match=r"checkpoint '.*model.ckpt-15' does not exist.*model.ckpt-20"):
        est.compare(15, 20, models.data)
    with pytest.raises(PathError, match=r"dense/kernle.*dense/kernel"):
        est.over_checkpoints(weights=["dense/kernle"])
    with pytest.raises(PathError, match=r"over_checkpoints\(taps=...\).*layers/dens"):
        est.over_checkpoints(models.data, taps=["layers/dens"])
    with pytest.raises(UsageError, match="give an input_fn"):
        est.over_checkpoints(taps=["layers/dense"])
    with pytest.raises(UsageError, match="nothing to look at"):
        est.over_checkpoints()


def test_numbers_are_compared_in_the_mean(tmp_path: Path) -> None:
    def line(features: Any, labels: Any, mode: str) -> Any:
        out = lw.layers.dense(features, 1)[:, 0]
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, predictions=out)
        loss = tf.reduce_mean(tf.square(out - labels))
        train = tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(loss, tf.compat.v1.train.get_global_step())
        return lw.EstimatorSpec(mode, out, loss, train)

    def input_fn() -> Any:
        x = np.arange(12, dtype=np.float32)[:, None]
        return tf.data.Dataset.from_tensor_slices((x, 2 * x[:, 0])).batch(6)

    est = lw.Estimator(line, config=lw.RunConfig(str(tmp_path), save_checkpoints_steps=1))
    est.train(input_fn, steps=2)
    found = est.compare(1, 2, input_fn)
    one, other = (list(est.predict(input_fn, checkpoint_path=f"{tmp_path}/model.ckpt-{step}")) for step in (1, 2))
    assert found.mean_change == pytest.approx(np.abs(np.subtract(one, other)).mean(), rel=1e-5)
    assert "predictions/predictions differs by" in str(found)


def test_progress_on_a_terminal(est: lw.Estimator, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    est.over_checkpoints(models.data, taps="layers/dense")
    assert re.search(r"over_checkpoints ━+ 3/3 checkpoints", screen.lines()[-1])
    est.compare(0, 20, models.data)
    assert re.search(r"compare ━+ 13/\? batches", screen.lines()[-1])


def test_an_input_that_ends_earlier_the_second_time_is_refused(est: lw.Estimator) -> None:
    lengths = iter((5, 4))
    with pytest.raises(UsageError, match=r"other examples the second time \(one of them ended after 32 examples\)"):
        est.compare(0, 20, lambda: models.data().take(next(lengths)))
