"""The numbers of edits stand beside the graph: the next call has its own, whatever the one before had."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.edits import models

import lightwell as lw

ACTIVATIONS = np.random.default_rng(1).normal(size=(12, 8)).astype(np.float32)


def _calls() -> list[list[Any]]:
    """Edits of one form, in pairs, and what may not be confused with them."""
    return [
        [lw.zero("layers/dense", unit=1)],
        [lw.zero("layers/dense", unit=[2, 3, 4])],
        [],
        [lw.zero("layers/dense", unit=1)],
        [lw.scale("layers/dense", 2.0)],
        [lw.scale("layers/dense", 3.0)],
        [lw.replace("layers/dense", ACTIVATIONS)],
        [lw.replace("layers/dense", ACTIVATIONS[::-1])],
        [lw.replace("layers/dense", ACTIVATIONS[0])],
        [lw.replace("layers/dense_1", ACTIVATIONS[1, :6])],
        [lw.apply("layers/dense", tf.nn.relu6), lw.add("layers/dense", 1.0)],
        [lw.apply("layers/dense", tf.nn.softsign), lw.add("layers/dense", 1.0)],
    ]


@pytest.fixture(scope="module")
def expected(trained: lw.Estimator) -> list[Any]:
    """What the model gives under each, computed from its weights with NumPy."""
    return [_by_numpy(trained, edits) for edits in _calls()]


def _by_numpy(trained: lw.Estimator, edits: list[Any]) -> Any:
    weights = trained.weights
    h = np.maximum(models.X @ weights["dense/kernel"] + weights["dense/bias"], 0.0)
    for edit in edits:
        kind = type(edit).__name__
        if kind == "Zero":
            h[:, np.atleast_1d(edit.unit)] = 0.0
        elif kind == "Scale":
            h = h * edit.factor
        elif kind == "Add":
            h = h + edit.vector
        elif kind == "Apply":
            h = edit.fn(h).numpy()
        elif edit.path == "layers/dense":
            h = np.broadcast_to(edit.value, h.shape)
    last = np.tanh(h @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    if edits and edits[-1].path == "layers/dense_1":
        last = np.broadcast_to(edits[-1].value, last.shape)
    logits = last @ weights["dense_2/kernel"] + weights["dense_2/bias"]
    return tf.nn.softmax(logits).numpy()


def test_predictions_one_after_another(trained: lw.Estimator, expected: list[Any]) -> None:
    for edits, wanted in zip(_calls(), expected, strict=True):
        rows = list(trained.predict(models.once, edits=edits))
        np.testing.assert_allclose([row["probabilities"] for row in rows], wanted, rtol=1e-4, err_msg=repr(edits))


def test_predictions_side_by_side(trained: lw.Estimator, expected: list[Any]) -> None:
    """Two generators of one graph with other numbers."""
    pair = [trained.predict(models.once, edits=edits) for edits in _calls()[6:8]]
    for place, (one, other) in enumerate(zip(*pair, strict=True)):
        np.testing.assert_allclose(one["probabilities"], expected[6][place], rtol=1e-4)
        np.testing.assert_allclose(other["probabilities"], expected[7][place], rtol=1e-4)


def test_one_session_serves_edits_that_differ_in_numbers(
    trained: lw.Estimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []
    open_session = tf.compat.v1.Session.__init__

    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        opened.append(self)
        open_session(self, *args, **kwargs)

    trained.close()
    monkeypatch.setattr(tf.compat.v1.Session, "__init__", counted)
    losses = [trained.evaluate(models.once, edits=[lw.zero("dense", unit=unit)])["loss"] for unit in (0, 1, 2, 0)]
    assert len(opened) == 1
    assert losses[0] == losses[3]
    assert len(set(losses)) == 3


def test_a_layer_inside_a_branch(tmp_path: Any) -> None:
    """What no tap can read can still be changed; its numbers stand outside of the branch."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        layer = lw.layers.Dense(8, name="inner")
        layer.build(tf.TensorShape([None, 36]))
        x = tf.cond(tf.size(features["x"]) > 0, lambda: layer(features["x"]), lambda: tf.zeros([5, 8]))
        return lw.EstimatorSpec(mode, {"x": tf.reshape(x, [-1, 8])})

    est = models.estimator(model_fn, tmp_path)
    for units in ([1], [2, 3]):
        rows = np.array([row["x"] for row in est.predict(models.once, edits=[lw.zero("layers/inner", unit=units)])])
        assert np.flatnonzero(~rows.any(axis=0)).tolist() == units


def test_an_array_that_is_changed_afterwards(trained: lw.Estimator, expected: list[Any]) -> None:
    array = ACTIVATIONS.copy()
    rows = trained.predict(models.once, edits=[lw.replace("layers/dense", array)])
    first = next(rows)
    array[:] = 0.0
    np.testing.assert_allclose([first["probabilities"], next(rows)["probabilities"]], expected[6][:2], rtol=1e-4)


def test_a_predictor_from_many_threads(trained: lw.Estimator, expected: list[Any]) -> None:
    wrong: list[Any] = []
    with trained.predictor() as p:

        def call(place: int) -> None:
            for _ in range(5):
                got = p(models.FEATURES, edits=_calls()[place])["probabilities"]
                if not np.allclose(got, expected[place], rtol=1e-4):
                    wrong.append(place)

        threads = [threading.Thread(target=call, args=[place]) for place in (0, 1, 2, 4, 5, 6, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with pytest.raises(lw.errors.UsageError, match=r"has 12 rows, and the batch 3. Give one row for each example"):
            p({name: value[:3] for name, value in models.FEATURES.items()}, edits=_calls()[6])
    assert not wrong
    with pytest.raises(lw.errors.UsageError, match="predictor is closed"):
        p(models.FEATURES, edits=_calls()[0])


def test_a_predictor_with_edits_takes_up_new_weights(tmp_path: Any) -> None:
    est = models.estimator(models.mlp(), tmp_path).train(models.data, steps=1)
    with est.predictor() as p:
        before = p(models.FEATURES, edits=[lw.zero("dense", unit=1)])["probabilities"]
        est.train(models.data, steps=1)
        assert p.refresh()
        after = p(models.FEATURES, edits=[lw.zero("dense", unit=1)])["probabilities"]
    assert not np.array_equal(before, after)
    np.testing.assert_allclose(after, _by_numpy(est, [lw.zero("layers/dense", unit=1)]), rtol=1e-4)


def test_taps_read_what_edits_left(trained: lw.Estimator) -> None:
    row = next(trained.predict(models.once, taps=["layers/dense", "layers/dense_1/input"], edits=[lw.zero("dense")]))
    assert not row["layers/dense"].any()
    seen = trained.evaluate(models.once, taps="layers/dense", edits=[lw.replace("dense", 2.0)])
    assert seen.taps["layers/dense"].mean.tolist() == [2.0] * 8


def test_events_of_an_edited_evaluation_stand_apart(tmp_path: Any) -> None:
    est = models.estimator(models.mlp(), tmp_path).train(models.data, steps=1)
    est.evaluate(models.once, edits=[lw.zero("layers/dense")])
    assert sorted(path.name for path in tmp_path.glob("eval*")) == ["eval_edited"]
