"""`est.predictor()`: right answers, from many threads, while weights are taken up; inputs that do not fit say so."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.inside.paths import models
from tests.inside.paths.models import AGES, CITIES, IMAGES

import lightwell as lw

v1 = tf.compat.v1
THREADS, CALLS = 8, 1000


@pytest.fixture(scope="module")
def linear(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("linear"), steps=3)


def _answers_in_threads(call: Any) -> list[str]:
    """Runs `call(i)` from many threads; what went wrong."""
    wrong: list[str] = []

    def work(number: int) -> None:
        try:
            for i in range(CALLS):
                problem = call(number * CALLS + i)
                if problem:
                    wrong.append(problem)
                    return
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_every_answer_is_right_in_every_thread(linear: lw.Estimator) -> None:
    w, b = float(linear.weights["w"]), float(linear.weights["b"])
    with linear.predictor() as p:

        def call(i: int) -> str:
            x = np.float32([i % 100, -i % 7])
            taps = [None, "features/x", ["weights/w", "features/x"]][i % 3]
            found = p({"x": x}, taps=taps)
            right = np.allclose(found["out"], w * x + b, rtol=1e-5) and np.allclose(found["twice"], 2 * found["out"])
            right = right and (taps is None or np.array_equal(found["features/x"], x))
            return "" if right else f"{x}: {found}"

        assert _answers_in_threads(call) == []


def test_every_answer_is_that_of_one_checkpoint_while_weights_are_taken_up(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1)
    known, seen, refreshed = [_pair(made.weights)], set(), []
    with made.predictor() as p:

        def train_on() -> None:
            for _ in range(4):
                made.train(tiny.data, steps=1)
                known.append(_pair(made.weights))
                refreshed.append(p.refresh())

        def call(i: int) -> str:
            seen.add(_pair(p({"x": [float(i)]}, taps=["weights/*"], predict_keys=[]), "weights/"))
            return ""

        trainer = threading.Thread(target=train_on)
        trainer.start()
        assert _answers_in_threads(call) == []
        trainer.join()
        assert refreshed == [True] * 4
        assert not p.refresh()
        call(0)
    assert seen <= set(known)  # never the w of one checkpoint with the b of another
    assert known[-1] in seen
    assert len(seen) >= 2


def _pair(weights: Any, prefix: str = "") -> tuple[float, float]:
    return float(weights[f"{prefix}w"]), float(weights[f"{prefix}b"])


def test_the_answers_are_those_of_predict(trained: lw.Estimator) -> None:
    rows = list(trained.predict(models.once, taps=["layers/*"]))
    features = {"x": IMAGES[:8], "age": AGES[:8], "city": CITIES[:8]}
    with trained.predictor() as p:
        found = p(features, taps=["layers/*"])
        assert set(found) == set(rows[0])
        for key, value in found.items():
            np.testing.assert_allclose(value, [row[key] for row in rows[:8]], rtol=1e-5, atol=1e-6)
        assert set(p(features)) == {"probabilities", "classes"}
        assert set(p(features, predict_keys=["classes"])) == {"classes"}
        assert set(p(features, predict_keys=[], taps="layers/hidden")) == {"layers/hidden"}
        assert p(features, taps=lw.stats("layers/hidden"))["layers/hidden"].max == found["layers/hidden"].max()
        np.testing.assert_array_equal(
            p(features, taps="weights/hidden/bias")["weights/hidden/bias"], trained.weights["hidden/bias"]
        )
        assert "age ?×1" in repr(p)


def test_lists_and_other_types_are_taken_for_arrays(linear: lw.Estimator) -> None:
    with linear.predictor() as p:
        assert p({"x": [1, 2]})["out"].dtype == np.float32
        assert p({"x": np.float64([])})["out"].shape == (0,)


@pytest.mark.parametrize(
    "inputs",
    [
        lambda: {"x": tf.TensorSpec([None], tf.float32)},
        lambda: {"x": np.zeros([1], np.float32)},
        lambda: tiny.once,
        lambda: lambda: {"x": tf.constant([1.0])},
        lambda: lambda params, mode: tiny.once(),
    ],
    ids=["specs", "arrays", "a dataset", "tensors", "with arguments"],
)
def test_the_structure_of_the_input_can_be_told_in_many_ways(inputs: Any, linear: lw.Estimator) -> None:
    with linear.predictor(inputs()) as p:
        assert p({"x": [1.0, 2.0, 3.0]})["out"].shape == (3,)


def test_a_serving_input_receiver(linear: lw.Estimator) -> None:
    class Receiver:
        def __init__(self) -> None:
            text = v1.placeholder(tf.string, [None])
            self.features = {"x": tf.strings.to_number(text)}
            self.receiver_tensors = {"text": text}

    with linear.predictor(Receiver) as p:
        assert p({"text": ["1.5", "2"]}, taps="features/x")["features/x"].tolist() == [1.5, 2.0]


def test_a_model_of_one_feature_and_one_prediction(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        return tiny.linear({"x": features}, labels, mode, params)._replace(predictions=features * 2)

    made = tiny.estimator(tmp_path, model_fn, params={})
    made.train(lambda: tiny.data().map(lambda features, labels: (features["x"], labels)), steps=1)
    with made.predictor() as p:
        assert p([1.0, 2.0]).tolist() == [2.0, 4.0]
        assert p([1.0, 2.0], taps="features")["predictions"].tolist() == [2.0, 4.0]
        with pytest.raises(lw.errors.UsageError, match="predictions are a single tensor; predict_keys cannot be used"):
            p([1.0], predict_keys=["out"])
        with pytest.raises(lw.errors.UsageError, match=r"input 'features' must have shape \? \(batch first\), got 1×1"):
            p([[1.0]])


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"city": [1.0]}, r"input 'city' must be an array of strings, got float64\. .* by array\.astype\(str\)\."),
        ({"age": ["old"]}, r"input 'age' must be an array of float32: could not convert string to float"),
        ({"age": [[1.0], [1.0, 2.0]]}, r"input 'age' must be an array of float32: setting an array element with a seq"),
    ],
    ids=["numbers for text", "text for numbers", "uneven"],
)
def test_an_input_of_another_type_is_named(trained: lw.Estimator, changed: dict[str, Any], told: str) -> None:
    features = {"x": IMAGES[:1], "age": AGES[:1], "city": CITIES[:1]}
    with trained.predictor() as p, pytest.raises(lw.errors.UsageError, match=told):
        p({**features, **changed})


def test_text_may_come_in_any_form(trained: lw.Estimator) -> None:
    features = {"x": IMAGES[:1], "age": AGES[:1]}
    city = np.asarray(CITIES[:1]).astype(str)[0]
    with trained.predictor() as p:
        answers = [
            p({**features, "city": given})
            for given in ([city], np.array([city]), np.array([city.encode()]), np.array([city], object))
        ]
    for answer in answers[1:]:
        for key, value in answers[0].items():
            np.testing.assert_array_equal(answer[key], value)


def test_a_checkpoint_can_be_chosen_and_stays(trained: lw.Estimator) -> None:
    second = trained.latest_checkpoint().replace("-4", "-2")
    features = {"x": IMAGES[:1], "age": AGES[:1], "city": CITIES[:1]}
    with trained.predictor(checkpoint_path=second) as old, trained.predictor() as new:
        assert not old.refresh()
        bias = "weights/hidden/bias"
        np.testing.assert_array_equal(old(features, taps=bias)[bias], trained.weights.at(second)["hidden/bias"])
        np.testing.assert_array_equal(new(features, taps=bias)[bias], trained.weights["hidden/bias"])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([1.0], r"the model's input is a dict with \['x'\], got list"),
        ({}, r"the input lacks \['x'\]\.$"),
        ({"X": [1.0]}, r"the input lacks \['x'\] and has \['X'\] too many. Did you mean 'x' by 'X'\?"),
        ({"x": [1.0], "y": [1.0]}, r"the input has \['y'\] too many\.$"),
        ({"x": [[1.0]]}, r"input 'x' must have shape \? \(batch first\), got 1×1"),
    ],
    ids=str,
)
def test_an_input_that_does_not_fit(given: Any, text: str, linear: lw.Estimator) -> None:
    with linear.predictor() as p, pytest.raises(lw.errors.UsageError, match=f"^predictor: {text}"):
        p(given)


def test_what_the_model_does_not_read_can_be_left_out_once_it_is_told(tmp_path: Path) -> None:
    x = tiny.X
    numbered = tf.data.Dataset.from_tensors
    est = tiny.estimator(tmp_path).train(lambda: numbered(({"x": x, "id": np.arange(8)}, tiny.Y)), steps=1)
    with est.predictor() as p:
        expected = p({"x": x, "id": np.arange(8)})["out"]
        with pytest.raises(lw.errors.UsageError, match=r"the input lacks \['id'\]\. .*est\.predictor\(features\)"):
            p({"x": x})
    with est.predictor({"x": x}) as p:
        np.testing.assert_array_equal(p({"x": x})["out"], expected)


def test_wrong_keys_and_taps(linear: lw.Estimator) -> None:
    with linear.predictor() as p:
        with pytest.raises(lw.errors.UsageError, match=r"no predictions \['outt'\]; the model has \['out', 'twice'\]"):
            p({"x": [1.0]}, predict_keys=["outt"])
        with pytest.raises(
            lw.errors.PathError, match=r"predictor\(taps=...\): 'features/y' names nothing.*'features/x'"
        ):
            p({"x": [1.0]}, taps=["features/y"])


def test_closed_is_closed(linear: lw.Estimator) -> None:
    p = linear.predictor()
    p.close()
    p.close()
    with pytest.raises(lw.errors.UsageError, match=r"This predictor is closed. Open another with est.predictor\(\)"):
        p({"x": [1.0]})


def test_many_different_taps_do_not_pile_up(linear: lw.Estimator) -> None:
    with linear.predictor() as p:
        for i in range(70):
            found = p({"x": [float(i)]}, taps=[lambda entry: entry.path == "features/x"])
            assert found["features/x"] == i
        assert p({"x": [2.0]}, taps=lw.stats("features/x"))["features/x"].mean == 2


@pytest.mark.parametrize("form", ["sparse", "ragged"])
def test_what_cannot_be_fed_as_arrays_is_refused(form: str, tmp_path: Path) -> None:
    def input_fn() -> Any:
        value = tf.sparse.from_dense([[1.0], [2.0]]) if form == "sparse" else tf.ragged.constant([[1.0], []])
        features = {"odd": value, "x": np.ones([2], np.float32)}
        return tf.data.Dataset.from_tensor_slices((features, np.ones([2], np.float32))).batch(2).repeat()

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        return tiny.linear({"x": features["x"]}, labels, mode, params)

    made = tiny.estimator(tmp_path, model_fn, params={})
    made.train(input_fn, steps=1)
    for inputs in (None, input_fn):
        with pytest.raises(lw.errors.InputFnError, match=f"predictor: {form} features cannot be fed as arrays"):
            made.predictor(inputs)


def test_an_input_that_is_not_known(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path)
    (tmp_path / "description.json").unlink()
    with pytest.raises(lw.errors.UsageError, match=r"structure of the input is not known.*est.predictor\(input_fn\)"):
        made.predictor()
    with pytest.raises(lw.errors.UsageError, match=r"predictor: the input is told by tf.TensorSpec, arrays.* got 'x'"):
        made.predictor({"x": "x"})


def test_a_closed_predictor_is_not_refreshed(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path)
    p = made.predictor(tiny.once)
    p.close()
    made.train(tiny.data, steps=1)
    for _ in range(2):
        with pytest.raises(
            lw.errors.UsageError, match=r"This predictor is closed. Open another with est.predictor\(\)"
        ):
            p.refresh()
    with pytest.raises(lw.errors.UsageError, match="This predictor is closed"):
        p({"x": tiny.X})
