"""Runs that several parity tests look at: each made once per session."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from tests.parity import recordings, scenes
from tests.parity.recordings import Pair

import lightwell as lw

KINDS = ("mlp", "cnn")


@pytest.fixture(scope="session")
def run(tmp_path_factory: Any) -> Callable[[str, bool], Pair]:
    """50 steps of a kind of model. `watched`: a hook reads every step; else steps may be run together."""

    @functools.cache
    def made(kind: str, watched: bool) -> Pair:
        initial = recordings.under("initial", recordings.load_arrays(f"training_{kind}"))
        ours = scenes.train_evaluate_predict(lw, kind, tmp_path_factory.mktemp(kind), initial, watched)
        return Pair(recordings.load_result(f"training_{kind}"), ours)

    return made


@pytest.fixture(params=KINDS)
def watched_run(request: Any, run: Callable[[str, bool], Pair]) -> Pair:
    return run(request.param, True)


@pytest.fixture(params=KINDS)
def unwatched_run(request: Any, run: Callable[[str, bool], Pair]) -> Pair:
    return run(request.param, False)


@pytest.fixture(params=[(kind, watched) for kind in KINDS for watched in (True, False)], ids=str)
def any_run(request: Any, run: Callable[[str, bool], Pair]) -> Pair:
    return run(*request.param)
