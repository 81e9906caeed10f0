"""An edit gives what the same change gives that is written into `model_fn`, bit for bit, in every verb."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.edits import models

import lightwell as lw

_DIRECTION = np.linspace(-1.0, 1.0, 5).astype(np.float32)


def _without(*units: int) -> Any:
    return lambda x: x * tf.constant([0.0 if unit in units else 1.0 for unit in range(x.shape[-1])])


def _second_channel_halved(x: Any) -> Any:
    return tf.where(tf.constant([False, True, False]), x * 0.5, x)


def _embedding_doubled(x: Any) -> Any:
    return tf.concat([x[:, :1], x[:, 1:4] * 2.0, x[:, 4:]], axis=1)


@dataclass(frozen=True)
class Case:
    """A model, an edit of it, and the same by hand."""

    model: Any
    edit: Any
    by_hand: Any


CASES = {
    "mlp": Case(models.mlp, lw.zero("layers/dense", unit=[1, 3]), _without(1, 3)),
    "cnn": Case(models.cnn, lw.scale("layers/conv2d", 0.5, channel=1), _second_channel_halved),
    "lstm": Case(models.lstm, lw.add("layers/lstm", _DIRECTION), lambda x: x + _DIRECTION),
    "dynamic_rnn": Case(models.old_rnn, lw.zero("layers/*lstm_cell[0]", channel=2), _without(2)),
    "batch_norm": Case(models.normalised, lw.apply("layers/batch_*", tf.nn.softsign), tf.nn.softsign),
    "columns": Case(models.columns, lw.scale("layers/*city_embedding", 2.0), _embedding_doubled),
}


def _same(first: Any, second: Any) -> None:
    assert len(first) == len(second) > 0
    for one, other in zip(first, second, strict=True):
        assert one.keys() == other.keys()
        for key in one:
            np.testing.assert_array_equal(one[key], other[key])


# The layers of "mlp" are in other cases, too.
QUICK = [*((name, "auto") for name in CASES if name not in ("dynamic_rnn", "mlp")), ("mlp", False)]
REST = [(name, fuse_steps) for name in CASES for fuse_steps in ("auto", False) if (name, fuse_steps) not in QUICK]


@pytest.mark.parametrize(
    ("name", "fuse_steps"), [*QUICK, *(pytest.param(*one, marks=pytest.mark.slow) for one in REST)]
)
def test_every_verb(tmp_path: Path, name: str, fuse_steps: Any) -> None:
    case = CASES[name]
    edited = models.estimator(case.model(), tmp_path / "edited", fuse_steps=fuse_steps)
    by_hand = models.estimator(case.model(case.by_hand), tmp_path / "by_hand", fuse_steps=fuse_steps)
    edited.train(models.data, steps=4, edits=[case.edit])
    by_hand.train(models.data, steps=4)
    weights = {key: edited.get_variable_value(key) for key in edited.get_variable_names()}
    _same([weights], [{key: by_hand.get_variable_value(key) for key in by_hand.get_variable_names()}])
    assert edited.evaluate(models.once, edits=[case.edit]) == by_hand.evaluate(models.once)
    predicted = list(by_hand.predict(models.once))
    _same(list(edited.predict(models.once, edits=[case.edit])), predicted)
    if fuse_steps == "auto":
        with edited.predictor() as p, by_hand.predictor() as q:
            _same([p(models.FEATURES, edits=[case.edit])], [q(models.FEATURES)])


def test_features_the_loss_and_gradients_in_training(tmp_path: Path) -> None:
    edits = [
        lw.scale("features/x", 2.0),
        lw.noise("features/x", 0.1, seed=3),
        lw.scale("gradients/*", 3.0),
        lw.clip("gradients/*", global_norm=0.5),
        lw.clip("gradients/weights/dense/*", norm=0.1),
        lw.clip("gradients/weights/dense/kernel", value=0.02),
    ]

    def noisy(x: Any) -> Any:
        return x * 2.0 + tf.random.normal(tf.shape(x), stddev=0.1, seed=3)

    def clipped(gradients: list[Any]) -> list[Any]:
        kernel, bias, *others = tf.clip_by_global_norm([3.0 * one for one in gradients], 0.5)[0]
        kernel = tf.clip_by_value(tf.clip_by_norm(kernel, 0.1), -0.02, 0.02)
        return [kernel, tf.clip_by_norm(bias, 0.1), *others]

    edited = models.estimator(models.mlp(), tmp_path / "edited").train(models.data, steps=4, edits=edits)
    by_hand = models.estimator(models.mlp(clip=clipped, on_features=noisy), tmp_path / "by_hand")
    by_hand.train(models.data, steps=4)
    for name in by_hand.get_variable_names():
        np.testing.assert_array_equal(edited.get_variable_value(name), by_hand.get_variable_value(name), err_msg=name)


def test_a_training_goes_on_after_one_in_which_a_layer_was_replaced(tmp_path: Path) -> None:
    """Nothing but the layers before it stands still, and the checkpoint has all that an unedited training needs."""
    est = models.estimator(models.mlp(), tmp_path)
    est.train(models.data, steps=2, edits=[lw.replace("layers/dense", 0.5)])
    before = est.get_variable_value("dense/kernel")
    assert not np.any(est.get_variable_value("dense/kernel/Adam"))
    est.train(models.data, steps=2)
    assert np.any(est.get_variable_value("dense/kernel") != before)
    by_hand = models.estimator(models.mlp(lambda x: tf.fill(tf.shape(x), 0.25)), tmp_path)
    assert est.evaluate(models.once, edits=[lw.replace("layers/dense", 0.25)]) == by_hand.evaluate(models.once)


def test_draws_of_the_model_stay_as_they_are(tmp_path: Path) -> None:
    """Neither ops of an edit nor its own draws shift the seeds of a dropout that comes after it."""
    edits = [
        lw.scale("layers/*", 1.0),
        lw.apply("layers/dense", lambda x: x + 0.0 * tf.random.normal(tf.shape(x))),
        lw.noise("layers/dense", 0.0),
    ]
    edited = models.estimator(models.mlp(), tmp_path / "edited").train(models.data, steps=4, edits=edits)
    plain = models.estimator(models.mlp(), tmp_path / "plain").train(models.data, steps=4)
    for name in plain.get_variable_names():
        np.testing.assert_array_equal(edited.get_variable_value(name), plain.get_variable_value(name), err_msg=name)
