"""A call answers as if it were the first of its process: first call, second call, fresh Estimator and fresh process
agree for every kind of state. What plain calls give is held in tests/parity; here are taps, Keras, threads of calls."""

from __future__ import annotations

import gc
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests import children, tiny
from tests.contracts.keras_kinds import all_answers
from tests.contracts.sources import ROOT
from tests.faces import FACES, FUSED, Face
from tests.parity import fresh_kinds, fresh_scenes, recordings
from tests.parity.fresh_kinds import KINDS, Kind
from tests.parity.recordings import same

import lightwell as lw

v1 = tf.compat.v1
RECORDED = recordings.load_json("fresh")["scenes"]


def evaluated_with_taps(est: lw.Estimator, kind: Kind) -> Any:
    result = est.evaluate(kind.input_fn, taps=["features/x"])
    assert result.taps["features/x"].count >= fresh_kinds.ROWS
    return fresh_scenes.numbers(result)


def evaluated_under_a_watch(est: lw.Estimator, kind: Kind) -> Any:
    seen: list[int] = []
    watch = lw.Watch("features/x", every=2, do=lambda step: seen.append(step.batch))
    result = est.evaluate(kind.input_fn, hooks=[watch])
    assert seen == [2]
    return fresh_scenes.numbers(result)


def predicted_with_taps(est: lw.Estimator, kind: Kind) -> Any:
    rows = list(est.predict(kind.input_fn, taps=["features/x"]))
    assert all("features/x" in row for row in rows)
    return [float(row["output"]) for row in rows]


SOME_KINDS = (
    "random numbers in the model: in a function",
    "a local variable that the model changes",
    "a saved variable that the model changes",
    "rows of a mutable table",
    "input: random numbers in a map",
)
ASKED = [
    *(("evaluate", evaluated_with_taps, name) for name in KINDS),
    *(("predict", predicted_with_taps, name) for name in KINDS),
    *(("evaluate", evaluated_under_a_watch, name) for name in SOME_KINDS),
]


@pytest.mark.parametrize(("verb", "ask", "name"), ASKED)
def test_calls_with_taps_answer_like_those_without(verb: str, ask: Any, name: str, tmp_path: Path) -> None:
    ours, recorded = fresh_scenes.answers(FUSED, tmp_path, KINDS[name], ask), RECORDED[name][verb]
    assert same(ours, recorded), f"{ours}\nrecorded: {recorded}"


def test_keras_states_answer_as_in_a_fresh_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.contracts.keras_kinds", str(tmp_path / "there")]
    places = children.environment(ROOT)
    there = subprocess.run(command, cwd=ROOT, env=places, capture_output=True, text=True, check=False)
    assert there.returncode == 0, there.stderr[-2000:]
    here, fresh = all_answers(tmp_path / "here"), json.loads(there.stdout)
    for name, by_verb in fresh.items():
        for verb, answers in by_verb.items():
            assert here[name][verb] == [answers[0]] * len(answers), (name, verb)


def test_keras_metrics_start_anew(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        spec = tiny.linear(features, labels, mode, params)
        mean, largest = keras.metrics.Mean(), keras.metrics.RootMeanSquaredError()
        mean.update_state(features["x"])
        largest.update_state(labels, features["x"])
        return spec._replace(eval_metric_ops={"mean": mean, "error": largest})

    est = tiny.estimator(tmp_path, model_fn, params={})
    est.train(tiny.data, steps=1)
    first = est.evaluate(tiny.once)
    assert first["mean"] == tiny.X.mean()
    assert [est.evaluate(tiny.once) for _ in range(2)] == [first] * 2


@pytest.mark.parametrize("name", SOME_KINDS)
def test_interleaved_generators_do_not_meet(name: str, tmp_path: Path) -> None:
    (alone, *_) = fresh_scenes.answers(FUSED, tmp_path / "alone", KINDS[name], fresh_scenes.predicted)

    def interleaved(est: lw.Estimator, kind: Kind) -> Any:
        three = [est.predict(kind.input_fn) for _ in range(3)]
        return [[float(row["output"]) for row in rows] for rows in itertools.zip_longest(*three)]

    for rows in fresh_scenes.answers(FUSED, tmp_path / "together", KINDS[name], interleaved):
        assert rows == [[value] * 3 for value in alone]


def test_a_training_in_between_is_seen(tmp_path: Path) -> None:
    est, seen = tiny.trained(tmp_path), []
    for _ in range(3):
        weights = (float(est.weights["w"]), float(est.weights["b"]))
        expected = [np.float32(weights[0]) * x + np.float32(weights[1]) for x in tiny.X]
        for taps in (None, ["weights/w"]):
            rows = list(est.predict(tiny.once, taps=taps))
            np.testing.assert_allclose([row["out"] for row in rows], expected, rtol=1e-6)
        seen.append((est.evaluate(tiny.once)["global_step"], est.evaluate(tiny.once, taps=["weights/w"])["loss"]))
        est.train(tiny.data, steps=1)
    assert [step for step, _ in seen] == [2, 3, 4]
    assert len({loss for _, loss in seen}) == 3


def test_a_running_generator_keeps_the_weights_it_began_with(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path)
    before = [float(row["out"]) for row in est.predict(tiny.once)]
    running = est.predict(tiny.once)
    first = next(running)
    est.train(tiny.data, steps=1)
    assert [float(row["out"]) for row in (first, *running)] == before
    assert [float(row["out"]) for row in est.predict(tiny.once)] != before


def _scaled(folder: Path, face: Any = FUSED) -> tuple[lw.Estimator, Kind]:
    """A model that multiplies by a weight, over a checkpoint that `fresh_kinds.write_weights` can write again."""
    (folder / "model_dir").mkdir(parents=True)
    fresh_kinds.write_weights(folder / "model_dir")
    kind = Kind()
    return fresh_scenes.estimator(face, folder, kind), kind


def test_a_predictor_sees_a_checkpoint_rewritten_under_its_name(tmp_path: Path) -> None:
    est, _ = _scaled(tmp_path)
    with est.predictor({"x": tf.TensorSpec([None], tf.float32)}) as p:
        assert p({"x": [2.0]})["output"] == 3.0
        assert not p.refresh()
        for scale in (4.0, 5.0):
            fresh_kinds.write_weights(tmp_path / "model_dir", scale=scale)
            assert p.refresh()
            assert p({"x": [2.0]})["output"] == 2 * scale
            assert not p.refresh()


def test_a_checkpoint_given_by_its_path_is_read_again_when_it_was_rewritten(tmp_path: Path) -> None:
    est, kind = _scaled(tmp_path)
    path = str(tmp_path / "model_dir" / "initial")
    for scale in (1.5, 4.0, 5.0):
        fresh_kinds.write_weights(tmp_path / "model_dir", scale=scale)
        rows = list(est.predict(kind.input_fn, checkpoint_path=path, taps=["weights/scale"]))
        assert [float(row["output"]) for row in rows] == [float(x * scale) for x in fresh_kinds.X]


def open_sessions() -> int:
    gc.collect()
    return sum(isinstance(thing, v1.Session) and not thing._closed for thing in gc.get_objects())


def test_close_during_a_running_generator(tmp_path: Path) -> None:
    est, kind = _scaled(tmp_path)
    before, expected = open_sessions(), fresh_scenes.predicted(est, kind)
    running = est.predict(kind.input_fn)
    first = next(running)
    est.close()
    assert [float(row["output"]) for row in (first, *running)] == expected
    assert open_sessions() == before
    assert fresh_scenes.predicted(est, kind) == expected
    est.close()
    assert open_sessions() == before


SELECTIONS: dict[str, Callable[[], Any]] = {
    "stats": lambda: [lw.stats("features/x")],
    "a histogram": lambda: [lw.histogram("features/x", bins=3)],
    "a predicate": lambda: [lambda entry: entry.path == "features/x"],
    "a path": lambda: ["features/x"],
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_taps_made_anew_for_each_call_do_not_fill_the_memory(name: str, tmp_path: Path) -> None:
    est, kind = _scaled(tmp_path)
    counts = []
    for _ in range(5):
        assert len(list(est.predict(kind.input_fn, taps=SELECTIONS[name]()))) == fresh_kinds.ROWS
        counts.append(open_sessions())
    assert counts[1:] == [counts[1]] * 4


class Counted:
    """A model function that counts its calls, by mode."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, features: Any, labels: Any, mode: str, params: Any) -> lw.EstimatorSpec:
        self.calls.append(mode)
        return tiny.linear(features, labels, mode, params)


def _counted(folder: Path, **settings: Any) -> tuple[lw.Estimator, Counted]:
    model_fn = Counted()
    est = tiny.estimator(folder, model_fn, params={}, **settings)
    est.train(tiny.data, steps=1)
    model_fn.calls.clear()
    return est, model_fn


@pytest.mark.parametrize("face", FACES)
def test_model_fn_is_called_for_each_call(face: str, tmp_path: Path) -> None:
    est, model_fn = _counted(tmp_path, fuse_steps=FACES[face].RunConfig().fuse_steps)
    for _ in range(3):
        est.evaluate(tiny.once)
        list(est.predict(tiny.once))
        list(est.predict(tiny.once, taps=["features/x"]))
        est.evaluate(tiny.once, taps=["features/x"])
    assert model_fn.calls == ["eval", "infer", "infer", "eval"] * 3


def test_input_fn_is_called_once_for_each_call(tmp_path: Path) -> None:
    est, _ = _counted(tmp_path)
    calls: list[int] = []

    def input_fn() -> Any:
        calls.append(1)
        return tiny.once()

    for number in range(1, 4):
        est.evaluate(input_fn)
        list(est.predict(input_fn))
        assert len(calls) == 2 * number


# Whoever vouches for model_fn skips its calls, and gets the same numbers.

PURE = Face("auto", pure_model_fn=True)
SESSION_STATES = [
    name
    for name in KINDS
    if name.startswith(("input: ", "random numbers in the model", "a local variable", "rows of", "a queue", "a saved"))
]


def test_a_pure_model_fn_is_called_once(tmp_path: Path) -> None:
    est, model_fn = _counted(tmp_path / "pure", pure_model_fn=True)
    plain, _ = _counted(tmp_path / "plain")
    for number in range(3):
        assert est.evaluate(tiny.once) == plain.evaluate(tiny.once)
        for ours, theirs in zip(est.predict(tiny.once), plain.predict(tiny.once), strict=True):
            assert ours == theirs
        for one in (est, plain):
            one.train(tiny.data, steps=1)
        assert model_fn.calls == ["eval", "infer", *["train"] * (number + 1)]


def test_a_pure_model_fn_is_called_again_for_another_input(tmp_path: Path) -> None:
    est, model_fn = _counted(tmp_path, pure_model_fn=True)
    doubled = lambda: tiny.once().map(lambda features, label: ({"x": 2 * features["x"]}, label))  # noqa: E731
    once, twice = [[float(row["out"]) for row in est.predict(input_fn)] for input_fn in (tiny.once, doubled)]
    assert twice != once
    assert [float(row["out"]) for row in est.predict(tiny.once)] == once
    assert [float(row["out"]) for row in est.predict(doubled)] == twice
    assert model_fn.calls == ["infer", "infer"]


def test_a_pure_model_fn_is_called_once_for_each_choice_of_taps(tmp_path: Path) -> None:
    est, model_fn = _counted(tmp_path, pure_model_fn=True)
    for _ in range(3):
        for taps in (["features/x"], [lw.stats("features/x")]):
            rows = list(est.predict(tiny.once, taps=taps))
            assert len(rows) == len(tiny.X)
    assert len(model_fn.calls) <= 2


@pytest.mark.parametrize("name", SESSION_STATES)
def test_a_pure_model_fn_gives_fresh_answers(name: str, tmp_path: Path) -> None:
    for verb, ask in fresh_scenes.VERBS.items():
        ours = fresh_scenes.answers(PURE, tmp_path / verb, KINDS[name], ask)
        assert same(ours, RECORDED[name][verb]), f"{ours}\nrecorded: {RECORDED[name][verb]}"


def test_vouching_is_a_setting_by_name() -> None:
    assert lw.RunConfig().pure_model_fn is False
    assert lw.RunConfig(pure_model_fn=True).pure_model_fn is True
    assert lw.RunConfig(pure_model_fn=True).replace(model_dir="elsewhere").pure_model_fn is True
    with pytest.raises(lw.errors.UsageError, match="pure_model_fn"):
        lw.RunConfig(pure_model_fn="yes")
