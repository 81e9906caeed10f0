"""What a user sees of an error: their own lines, and few others."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.run.failures.failing import lookup, model

import lightwell as lw
from lightwell.errors import CheckpointMismatch

v1 = tf.compat.v1
OURS = str(Path(lw.__file__).parent)


@pytest.fixture
def unfiltered() -> Iterator[None]:
    tf.debugging.disable_traceback_filtering()
    yield
    tf.debugging.enable_traceback_filtering()


def broken(features: Any, labels: Any, mode: str) -> Any:
    raise ZeroDivisionError("in model_fn")


class BrokenHook(v1.train.SessionRunHook):
    def after_run(self, run_context: Any, run_values: Any) -> None:
        raise ZeroDivisionError("in a hook")


ACTS: dict[str, Callable[[Path], Any]] = {
    "model_fn": lambda d: tiny.estimator(d, broken).train(tiny.data, steps=1),
    "model_fn in evaluate": lambda d: tiny.estimator(d, broken).evaluate(tiny.once),
    "model_fn in predict": lambda d: next(tiny.estimator(d, broken).predict(tiny.once)),
    "model_fn in describe": lambda d: tiny.estimator(d, broken).describe(tiny.once),
    "a hook": lambda d: tiny.estimator(d).train(tiny.data, [BrokenHook()], steps=1),
    "a step": lambda d: tiny.estimator(d, model(lookup)).train(tiny.data, steps=1),
    "a batch": lambda d: tiny.estimator(d, model(lookup)).evaluate(tiny.once),
    "a batch of a prediction": lambda d: list(tiny.estimator(d, model(lookup)).predict(tiny.once)),
}


def frames_of(act: Callable[[], Any]) -> tuple[list[traceback.FrameSummary], str]:
    with pytest.raises(Exception) as told:
        act()
    frames = traceback.extract_tb(told.value.__traceback__)
    return list(frames), "".join(traceback.format_exception(told.value))


@pytest.mark.parametrize("name", ACTS)
def test_few_lines_and_one_frame_of_ours(name: str, tmp_path: Path) -> None:
    frames, text = frames_of(lambda: ACTS[name](tmp_path))
    assert len([frame for frame in frames if frame.filename.startswith(OURS)]) == 1
    assert len(text.splitlines()) <= 25, text
    assert any(frame.filename == __file__ for frame in frames)
    if not name.startswith("a "):
        assert frames[-1].line == 'raise ZeroDivisionError("in model_fn")'
    if name == "a hook":
        assert frames[-1].line == 'raise ZeroDivisionError("in a hook")'


def test_all_of_it_on_request(tmp_path: Path, unfiltered: None) -> None:
    frames, _ = frames_of(lambda: ACTS["model_fn"](tmp_path))
    assert any(frame.name == "call_model_fn" for frame in frames)


def test_an_error_of_ours_on_purpose_needs_no_frames(tmp_path: Path) -> None:
    def other(features: Any, labels: Any, mode: str) -> Any:
        v1.get_variable("another", [])
        return tiny.linear(features, labels, mode, {})

    tiny.trained(tmp_path)
    with pytest.raises(CheckpointMismatch) as told:
        tiny.estimator(tmp_path, other).train(tiny.data, steps=1)
    assert len(traceback.extract_tb(told.value.__traceback__)) <= 3


def test_an_error_of_ours_by_mistake_shows_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tiny.estimator(tmp_path)
    monkeypatch.setattr(made, "_config", None)  # as if the Estimator had a bug
    frames, _ = frames_of(lambda: made.train(tiny.data, steps=1))
    assert frames[-1].filename.startswith(OURS)
    assert "_config" in (frames[-1].line or "")


def test_what_an_error_was_raised_from_is_shown(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ZeroDivisionError("then") from error

    _, text = frames_of(lambda: tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=1))
    assert "KeyError: 'first'" in text
    assert "direct cause" in text


def test_the_verbs_look_as_ever(tmp_path: Path) -> None:
    assert list(inspect.signature(lw.Estimator.train).parameters)[:3] == ["self", "input_fn", "hooks"]
    assert (lw.Estimator.evaluate.__doc__ or "").startswith("Evaluates the newest checkpoint")
    assert inspect.isgenerator(tiny.estimator(tmp_path).predict(tiny.once))
