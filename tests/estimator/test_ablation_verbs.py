"""`est.ablate`: each evaluation is that of `evaluate` with the same edit; the model is built once."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from tests.inside.edits import models

import lightwell as lw

mpl.use("agg")
calls: list[str] = []


def counted(features: Any, labels: Any, mode: str) -> Any:
    calls.append(mode)
    return models.cnn()(features, labels, mode)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    return models.estimator(counted, tmp_path_factory.mktemp("cnn")).train(models.data, steps=6)


@pytest.fixture(scope="module")
def ablation(trained: lw.Estimator) -> Any:
    calls.clear()
    made = trained.ablate(models.once, "layers/conv2d")
    assert calls == [lw.ModeKeys.EVAL], "the model is built once"
    return made


def test_numbers_are_those_of_evaluate(trained: lw.Estimator, ablation: Any) -> None:
    assert (ablation.path, ablation.per, ablation.units, ablation.global_step) == (
        "layers/conv2d",
        "channel",
        (0, 1, 2),
        6,
    )
    plain = trained.evaluate(models.once)
    assert ablation.baseline == {"accuracy": plain["accuracy"], "loss": plain["loss"]}
    for channel in range(3):
        one = trained.evaluate(models.once, edits=[lw.zero("layers/conv2d", channel=channel)])
        assert ablation.metrics["loss"][channel] == one["loss"]
        assert ablation.metrics["accuracy"][channel] == one["accuracy"]
    assert trained.evaluate(models.once) == plain
    assert {path.name for path in Path(trained.model_dir).glob("eval*")} == {"eval", "eval_edited"}, "none of its own"


def test_input_that_no_session_can_start_over(trained: lw.Estimator, ablation: Any) -> None:
    """A shuffled input draws on: each evaluation has a new session, and the first order of rows."""
    shuffled = trained.ablate(lambda: models.once().shuffle(3), "layers/conv2d")
    np.testing.assert_allclose(shuffled.metrics["accuracy"], ablation.metrics["accuracy"])
    loss = [trained.evaluate(lambda: models.once().shuffle(3), edits=[lw.zero("layers/conv2d", channel=1)])["loss"]]
    assert shuffled.metrics["loss"][1] == loss[0]


def test_units_and_metrics_can_be_chosen(trained: lw.Estimator) -> None:
    some = trained.ablate(models.once, "conv2d", "unit", "accuracy", units=[(0, 0, 1), (5, 5, 2)], steps=1)
    assert (some.units, list(some.metrics), len(some)) == (((0, 0, 1), (5, 5, 2)), ["accuracy"], 2)
    dense = trained.ablate(models.once, "layers/dense", "unit", steps=1)
    assert dense.units == (0, 1, 2, 3)


def test_the_worst_come_first(ablation: Any) -> None:
    change = ablation.change("loss")
    np.testing.assert_array_equal(change, ablation.metrics["loss"] - ablation.baseline["loss"])
    worst = ablation.worst(2)
    assert worst.units == tuple(np.argsort(-change)[:2])
    assert worst.baseline == ablation.baseline
    by_accuracy = ablation.worst(1, by="accuracy")
    assert by_accuracy.metrics["accuracy"][0] == ablation.metrics["accuracy"].min()


def test_it_is_a_value_to_look_at(ablation: Any) -> None:
    title, head, baseline, *rows = repr(ablation).splitlines()
    assert title == "layers/conv2d at step 6: 3 channels zeroed, one at a time"
    assert head.split() == ["channel", "accuracy", "change", "loss", "change"]
    assert baseline.startswith("baseline")
    assert [int(row.split()[0]) for row in rows] == list(ablation.worst(3).units)
    assert len({len(line) for line in (head, *rows)}) == 1, "the columns line up"
    assert ablation._repr_html_().count("<tr>") == 5
    frame = ablation.to_pandas()
    assert frame.loc[1, "loss_change"] == ablation.change("loss")[1]
    assert json.loads(json.dumps(ablation.to_dict()))["units"][2]["loss"] == ablation.metrics["loss"][2]
    axes = ablation.plot(by="loss")
    assert [bar.get_height() for bar in axes.patches] == ablation.change("loss").tolist()


def test_a_metric_that_no_unit_moves_takes_no_columns(ablation: Any) -> None:
    metrics = {**ablation.metrics, "label/mean": np.full(3, 0.5)}
    more = dataclasses.replace(ablation, metrics=metrics, baseline={**ablation.baseline, "label/mean": 0.5})
    note = "The same without any of them: label/mean 0.5."
    assert repr(more) == f"{ablation!r}\n{note}"
    assert note in more._repr_html_()


def test_told(trained: lw.Estimator, ablation: Any) -> None:
    with pytest.raises(
        lw.errors.UsageError, match=r"ablate: 'layers/conv\*' means several values, \['layers/conv2d', "
    ):
        trained.ablate(models.once, "layers/conv*")
    with pytest.raises(lw.errors.UsageError, match=r"ablate: per must be 'channel' .* or 'unit', got 'filter'"):
        trained.ablate(models.once, "layers/conv2d", per="filter")
    with pytest.raises(
        lw.errors.UnknownMetric, match=r"ablate: evaluations have no metric 'acuracy'. Did you mean 'accurac"
    ):
        trained.ablate(models.once, "layers/conv2d", metrics="acuracy")
    with pytest.raises(lw.errors.UsageError, match="'layers/conv2d' has 3 channels, 0 to 2: there is no channel 9"):
        trained.ablate(models.once, "layers/conv2d", units=[9])
    with pytest.raises(
        lw.errors.PathError, match=r"'layers/conv' names nothing in this model. Did you mean 'layers/conv"
    ):
        trained.ablate(models.once, "layers/conv")
    with pytest.raises(lw.errors.UnknownMetric, match=r"no metric 'los'. Did you mean 'loss'"):
        ablation.worst(by="los")
