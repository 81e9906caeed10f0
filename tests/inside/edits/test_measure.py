"""An edit that changes nothing says so when the run is over, with the figure; one that works is quiet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.inside.edits import models

import lightwell as lw


def test_evaluation(trained: lw.Estimator, log: Any) -> None:
    trained.evaluate(models.once, edits=[lw.scale("layers/dense", 1.0), lw.zero("layers/dense_1")])
    (line,) = log.having("changed nothing")
    assert line == (
        "WARNING evaluate(edits=...): lw.scale('layers/dense', 1.0) changed nothing: 0 of 80 numbers of "
        "'layers/dense', in the 2 batches looked at."
    ), "batches 1 and 2 of 3; the third is not looked at"


def test_prediction_that_is_not_read_to_its_end(trained: lw.Estimator, log: Any) -> None:
    next(trained.predict(models.once, edits=[lw.clip("layers/*", value=1e6)]))
    (line,) = log.having("changed nothing")
    assert (
        "0 of 130 numbers of 'layers/dense', 'layers/dropout', 'layers/dense_1' and 1 more, in the batch looked" in line
    )


def test_training(tmp_path: Path, log: Any) -> None:
    est = models.estimator(models.mlp(), tmp_path)
    est.train(models.data, steps=10, edits=[lw.clip("gradients/*", value=1e6)])
    (line,) = log.having("changed nothing")
    assert line.startswith("WARNING train(edits=...): lw.clip('gradients/*', value=1000000.0) changed nothing: 0 of ")
    assert line.endswith("in the 4 batches looked at."), "steps 1, 2, 4 and 8"
    log.lines.clear()
    est.train(models.data, steps=10, edits=[lw.clip("gradients/*", norm=1e-3)])
    assert not log.having("changed nothing")


def test_predictor_says_it_once(trained: lw.Estimator, log: Any) -> None:
    with trained.predictor() as p:
        for factor in (1.0, 1.0, 2.0, 3.0):
            p(models.FEATURES, edits=[lw.scale("layers/dense", factor)])
    (line,) = log.having("changed nothing")
    assert line.startswith(
        "WARNING predictor(edits=...): lw.scale('layers/dense', 1.0) changed nothing: 0 of 96 numbers"
    )


def test_strings_count_too(trained: lw.Estimator, log: Any) -> None:
    trained.evaluate(models.once, edits=[lw.replace("features/city", models.CITIES)])
    (line,) = log.having("changed nothing")
    assert "lw.replace('features/city', <array 12 " in line
    log.lines.clear()
    trained.evaluate(models.once, edits=[lw.replace("features/city", np.array("Rom"))])
    assert not log.having("changed nothing")
