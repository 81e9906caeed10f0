"""Summaries are written at the first step, then each so many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.run.hooks.event_files import session_marks, tags, values

v1 = tf.compat.v1
START = v1.SessionLog.START


def counting(features: Any, labels: Any, mode: str) -> Any:
    """A model with a summary of the step before, and one of its own choice in a scaffold."""
    spec = tiny.linear(features, labels, mode, {})
    v1.summary.scalar("of_every_fourth", tf.reduce_sum(features["x"]))
    return spec


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_the_first_step_then_each_so_many(tmp_path: Path, fuse_steps: Any) -> None:
    made = tiny.estimator(tmp_path, counting, save_summary_steps=3, fuse_steps=fuse_steps)
    made.train(tiny.data, steps=10)
    found = values(tmp_path, "of_every_fourth")
    assert found == [(1, 10.0), (4, 26.0), (7, 10.0), (10, 26.0)], "each with the values of its own step"
    made.train(tiny.data, steps=4)
    assert [step for step, _ in values(tmp_path, "of_every_fourth")] == [1, 4, 7, 10, 11, 14]
    assert [mark for mark in session_marks(tmp_path) if mark[1] == START] == [(1, START), (11, START)]


def test_all_of_them_are_merged_without_a_choice(tmp_path: Path) -> None:
    tiny.estimator(tmp_path, counting, save_summary_steps=1, log_step_count_steps=None).train(tiny.data, steps=1)
    assert tags(tmp_path) == {"of_every_fourth", "loss"}


def test_a_scaffolds_own_choice_is_kept_to(tmp_path: Path) -> None:
    def chosen(features: Any, labels: Any, mode: str) -> Any:
        own = v1.train.Scaffold(summary_op=v1.summary.scalar("own", tf.reduce_mean(labels)))
        return counting(features, labels, mode)._replace(scaffold=own)

    tiny.estimator(tmp_path, chosen, save_summary_steps=1, log_step_count_steps=None).train(tiny.data, steps=2)
    assert values(tmp_path, "own") == [(1, 5.0), (2, 13.0)]
    assert tags(tmp_path) == {"own"}


def test_they_can_be_left_out(tmp_path: Path) -> None:
    tiny.estimator(tmp_path, counting, save_summary_steps=None, log_step_count_steps=None).train(tiny.data, steps=3)
    assert tags(tmp_path) == set()


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_a_users_hook_writes_the_choice_of_its_scaffold(tmp_path: Path, fuse_steps: Any) -> None:
    def chosen(features: Any, labels: Any, mode: str) -> Any:
        own = v1.train.Scaffold(summary_op=v1.summary.scalar("own", tf.reduce_mean(labels)))
        hook = v1.train.SummarySaverHook(save_steps=2, output_dir=str(tmp_path), scaffold=own)
        return counting(features, labels, mode)._replace(scaffold=own, training_chief_hooks=[hook])

    made = tiny.estimator(tmp_path, chosen, save_summary_steps=None, log_step_count_steps=None, fuse_steps=fuse_steps)
    made.train(tiny.data, steps=4)
    assert [step for step, _ in values(tmp_path, "own")] == [1, 3]
    assert tags(tmp_path) == {"own"}
