"""Whoever looks at a run is shown the same batches with the same bits, fused or single, first or second call, in train,
evaluate and predict; and nobody's looking changes what the run gives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.contracts import runs
from tests.contracts.observers import OBSERVERS
from tests.contracts.runs import BATCHES, MODES, ROWS, Calls, Observer, X, plain
from tests.faces import FACES, FUSED, SINGLE
from tests.parity import draw_scenes, recordings
from tests.parity.draws import DRAWS

import lightwell as lw

Observe = Callable[[str, str, str], Calls]
CASES = [(mode, name) for name, row in OBSERVERS.items() for mode in row.modes]
NOBODY = "nobody"
# Who ends a run early, or feeds it other numbers, is meant to change what it gives.
CHANGING = ("FeedFnHook", "StopAtStepHook", "stop_when")


@pytest.fixture(scope="module")
def observe(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Observe:
    """Two calls of a mode with an observer, made once."""

    @functools.cache
    def made(face: str, mode: str, name: str) -> Calls:
        folder = tmp_path_factory.mktemp("run") / "model_dir"
        if mode != "train":
            runs.copied(trained, folder)
        make = OBSERVERS[name].make if name != NOBODY else lambda _: Observer()
        return runs.calls(FACES[face], mode, folder, make)

    return made


@pytest.mark.parametrize(("mode", "name"), CASES)
def test_fused_and_single_are_seen_alike(mode: str, name: str, observe: Observe) -> None:
    all_fused, all_single = observe("fused", mode, name), observe("single", mode, name)
    for fused, single in zip(all_fused, all_single, strict=True):
        assert fused.seen == single.seen
        assert fused.said == single.said
        assert fused.result == single.result
    assert all_fused.events == all_single.events


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("mode", "name"), [case for case in CASES if case[0] != "train"])
def test_a_second_call_is_seen_like_the_first(face: str, mode: str, name: str, observe: Observe) -> None:
    both = observe(face, mode, name)
    first, second = both
    assert second.seen == first.seen
    assert second.said == first.said
    assert second.result == first.result
    half = len(both.events) // 2
    assert both.events[half:] == both.events[:half]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("mode", "name"), [(mode, name) for mode, name in CASES if OBSERVERS[name].sees])
def test_the_batches_asked_for_are_shown(face: str, mode: str, name: str, observe: Observe) -> None:
    for number, call in enumerate(observe(face, mode, name)):
        assert [batch for batch, _ in call.seen] == OBSERVERS[name].batches_seen(mode, number)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["a hook that fetches paths", "Watch every third"])
def test_what_is_shown_is_of_that_batch(face: str, mode: str, name: str, observe: Observe) -> None:
    first, _ = observe(face, mode, name)
    key = "x" if "hook" in name else "features/x"
    assert [values[key] for _, values in first.seen] == [plain(runs.batch(number)) for number in (3, 6, 9)]


@pytest.mark.parametrize(("mode", "name"), [case for case in CASES if case[1] not in CHANGING])
def test_looking_changes_nothing(mode: str, name: str, observe: Observe) -> None:
    alone, looked_at = observe("single", mode, NOBODY)[0].result, observe("fused", mode, name)[0].result
    if mode == "predict":  # taps are more keys of the same rows
        looked_at = [
            [{key: row[key] for key in only}, {}] for (row, _), (only, _) in zip(looked_at, alone, strict=True)
        ]
    elif mode == "evaluate":
        alone, looked_at = alone[0], looked_at[0]
    assert looked_at == alone


@pytest.mark.parametrize("face", FACES)
def test_watches_of_several_cadences(face: str, observe: Observe) -> None:
    for mode in MODES:
        first, _ = observe(face, mode, "watches of several cadences")
        shown = [[number for number, _ in looks] for looks in first.seen]
        assert shown == [[2, 4, 6, 8, 10], [5, 10], [2, 5], []]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("mode", MODES)
def test_stop_when_ends_the_run_at_that_batch(face: str, mode: str, observe: Observe) -> None:
    first, _ = observe(face, mode, "stop_when")
    assert len(first.seen) == 5
    if mode == "train":
        assert first.result["global_step"] == plain(np.int64(5))
    elif mode == "predict":  # the rows of the batch that was looked at are still given
        assert len(first.result) == 5 * ROWS


@pytest.mark.parametrize("face", FACES)
def test_log_lines_come_at_their_batches(face: str, observe: Observe) -> None:
    for mode in MODES:
        first, second = observe(face, mode, "LoggingTensorHook")
        assert len(first.said) == len(second.said) == len(range(0, BATCHES, 3))
        first, second = observe(face, mode, "Watch to the log")
        assert len(first.said) == 2
        assert len(second.said) == (3 if mode == "train" else 2)  # steps 12, 16, 20; batches 4, 8


@pytest.mark.parametrize("face", FACES)
def test_tensorflows_hook_ends_a_training_at_its_step(face: str, observe: Observe) -> None:
    stopped, _ = observe(face, "train", "StopAtStepHook")
    assert stopped.result["global_step"] == plain(np.int64(7))


@pytest.mark.parametrize("face", FACES)
def test_taps_of_an_evaluation_are_those_of_its_batches(face: str, observe: Observe) -> None:
    for call in observe(face, "evaluate", "taps"):
        seen = call.result[1]["features/x"]
        mean = np.frombuffer(seen["mean"][2], seen["mean"][0])
        np.testing.assert_allclose(mean, X.astype(np.float64).mean(axis=0), rtol=1e-9)
        assert seen["count"] == plain(len(X))


@pytest.mark.parametrize("face", FACES)
def test_taps_of_a_prediction_are_those_of_its_rows(face: str, observe: Observe) -> None:
    for call in observe(face, "predict", "taps"):
        assert [row[0]["features/x"] for row in call.result] == [plain(x) for x in X]


def test_a_predictor_shows_the_same_taps_as_predict(trained: Path, observe: Observe) -> None:
    first, _ = observe("fused", "predict", "taps")
    with runs.estimator(FUSED, trained).predictor() as p:
        taps = ["features/x", "layers/hidden"]
        for number in range(1, 4):
            found = p({"x": runs.batch(number)}, taps=taps)
            rows = first.result[(number - 1) * ROWS : number * ROWS]
            for tap in taps:
                assert [plain(value) for value in found[tap]] == [row[0][tap] for row in rows]
        summed = p({"x": runs.batch(1)}, taps=[lw.stats("features/x")])["features/x"]
        assert summed.max == runs.batch(1).max()


def test_watches_of_two_runs_of_one_object(trained: Path, tmp_path: Path) -> None:
    """A watch that is given to a training, an evaluation and a prediction in turn starts anew in each."""
    seen: list[tuple[str, int]] = []
    watch = lw.Watch("features/x", every=4, do=lambda step: seen.append((step.mode, step.batch)))
    est = runs.estimator(SINGLE, runs.copied(trained, tmp_path / "model_dir"))
    for _ in range(2):
        est.evaluate(runs.data, hooks=[watch])
        list(est.predict(runs.data, hooks=[watch]))
    assert seen == [("eval", 4), ("eval", 8), ("infer", 4), ("infer", 8)] * 2


@pytest.mark.parametrize("name", ["dropout in a function", "noise in a function in a function", "sampled softmax"])
def test_a_watch_changes_no_draw(name: str, tmp_path: Path) -> None:
    """Trained under watches, the weights are those that tf.estimator 2.15 had when nobody looked."""
    recorded = recordings.load_json("draws")["scenes"][name]["weights"]
    est = draw_scenes.estimator(FUSED, tmp_path, draw_scenes.drawing(lw, DRAWS[name]))
    hooks = [lw.Watch("loss", every=every, do=lambda step: None) for every in (2, 5)]
    est.train(draw_scenes.batches, steps=recorded["global_step"], hooks=hooks)
    assert recordings.same(draw_scenes.weights(tmp_path), recorded)
