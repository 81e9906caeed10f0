"""Summaries are written at the first step, then each so many."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf
from tests.hooks.steps import Context, seen_steps, session_marks, values

from lightwell.hooks.save_summaries import SaveSummaries

v1 = tf.compat.v1
START = v1.SessionLog.START


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default():
        yield


def summary(value: float) -> bytes:
    return bytes(v1.Summary(value=[v1.Summary.Value(tag="x", simple_value=value)]).SerializeToString())


def test_the_first_step_then_each_so_many(tmp_path: Path) -> None:
    hook = SaveSummaries(3, str(tmp_path), v1.train.Scaffold())
    assert seen_steps(hook, range(11, 20)) == [11, 14, 17]
    assert session_marks(tmp_path) == [(11, START)]


def test_what_was_fetched_is_written(tmp_path: Path) -> None:
    hook = SaveSummaries(1, str(tmp_path), v1.train.Scaffold())
    for step in (1, 2):
        hook.after_run(Context(step), SimpleNamespace(results=summary(step / 2)))
    hook.end(None)
    assert values(tmp_path) == [(1, "x", 0.5), (2, "x", 1.0)]


def test_it_asks_for_the_scaffolds_summaries(tmp_path: Path) -> None:
    own = v1.summary.scalar("own", 1.0)
    hook = SaveSummaries(1, str(tmp_path), v1.train.Scaffold(summary_op=own))
    assert hook.looks_at() is own
    assert hook.before_run(None).fetches is own


def test_without_a_choice_it_is_all_of_them_merged(tmp_path: Path) -> None:
    v1.train.create_global_step()
    v1.summary.scalar("a", 1.0)
    scaffold = v1.train.Scaffold()
    hook = SaveSummaries(1, str(tmp_path), scaffold)
    merged = hook.looks_at()
    scaffold.finalize()
    assert hook.before_run(None).fetches is merged is scaffold.summary_op


def test_a_model_without_summaries_asks_for_nothing(tmp_path: Path) -> None:
    v1.train.create_global_step()
    scaffold = v1.train.Scaffold()
    hook = SaveSummaries(1, str(tmp_path), scaffold)
    assert hook.looks_at() is None
    scaffold.finalize()
    assert hook.before_run(None) is None
