"""An ablation on a terminal shows how far it is; elsewhere it is quiet."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.inside.edits import models
from tests.terminal import terminal

import lightwell as lw


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    return models.estimator(models.mlp(), tmp_path_factory.mktemp("mlp")).train(models.data, steps=1)


def test_progress_on_a_terminal(trained: lw.Estimator, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    trained.ablate(models.once, "layers/dense_1", "unit", units=[0, 1])
    assert re.search(r"ablate layers/dense_1 ━+ 2/2 units", screen.lines()[-1])


def test_quiet_elsewhere(trained: lw.Estimator, log: Any, capsys: Any) -> None:
    trained.ablate(models.once, "layers/dense_1", "unit", units=[0])
    assert capsys.readouterr().out == ""
    assert not log.having("evaluation"), "one of many evaluations is no news"
    assert not log.having("changed nothing")


def test_no_trained_model(tmp_path: Any, log: Any) -> None:
    models.estimator(models.mlp(), tmp_path).ablate(models.once, "layers/dense_1", units=[0])
    assert log.having("RANDOM initial weights")


def test_rows_one_by_one(trained: lw.Estimator) -> None:
    found = trained.ablate(models.once, "layers/dense_1", "unit", units=[2, 0])
    rows = list(found)
    assert [row.unit for row in found] == [2, 0]
    assert (len(found), found[0], found[-1]) == (2, rows[0], rows[1])
    for place, row in enumerate(rows):
        assert row.metrics["loss"] == found.metrics["loss"][place]
        assert row.change["loss"] == row.metrics["loss"] - found.baseline["loss"]
    with pytest.raises(IndexError, match=r"Ablation: there is no row 2; there are 2\."):
        found[2]
    with pytest.raises(lw.errors.WrongType, match="Ablation: a row is chosen by its place, 0 to 1, got 'loss'"):
        found["loss"]  # type: ignore[index]
