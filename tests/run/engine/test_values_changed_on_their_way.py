"""Features, labels, losses and layers are changed on their way, and the model goes on with what they became."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


def test_features_are_changed_before_the_model_sees_them(tmp_path: Path) -> None:
    plain = next(iter(tiny.estimator(tmp_path).predict(tiny.once, taps=["features/x"])))
    assert plain == {"out": 1.0, "twice": 2.0, "features/x": 1.0}
    edits = [lw.add("features/x", 10.0)]
    changed = next(iter(tiny.estimator(tmp_path).predict(tiny.once, taps=["features/x"], edits=edits)))
    assert changed == {"out": 11.0, "twice": 22.0, "features/x": 11.0}


def test_features_that_are_one_tensor_are_changed_as_a_whole(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, lambda features, mode: lw.EstimatorSpec(mode, {"out": features + 1}))
    assert [
        row["out"] for row in made.predict(lambda: tf.data.Dataset.range(3).batch(3), edits=[lw.zero("features")])
    ] == [1, 1, 1]


def test_labels_are_changed_in_training_and_evaluation(tmp_path: Path) -> None:
    edits = [lw.zero("labels")]
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, steps=3, edits=edits)
    assert made.get_variable_value("w") < 1.0, "towards zero, and not towards the labels' 2"
    result = made.evaluate(tiny.once, edits=edits)
    w, b = made.get_variable_value("w"), made.get_variable_value("b")
    assert result["mae"] == pytest.approx(abs(w * tiny.X + b).mean(), rel=1e-5)
    assert result["loss"] == pytest.approx(((w * tiny.X + b) ** 2).mean(), rel=1e-5)


def test_the_loss_of_an_evaluation_can_be_changed(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path)
    plain = made.evaluate(tiny.once)
    changed = made.evaluate(tiny.once, edits=[lw.scale("loss", 2.0)])
    assert changed["loss"] == pytest.approx(2.0 * plain["loss"])
    assert changed["mae"] == plain["mae"]
