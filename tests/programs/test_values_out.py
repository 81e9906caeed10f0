"""Values out of an Estimator: predictions, evaluations, layers and weights, both ways."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from tests.programs.cases import RUN, WAYS
from tests.programs.conftest import Outcomes

pytestmark = pytest.mark.parametrize("way", WAYS)


@pytest.mark.parametrize("name", ["dense_output", "disable_v2_behavior"])
def test_a_hidden_layer_comes_out_as_a_prediction(outcomes: Outcomes, name: str, way: str) -> None:
    printed = outcomes.printed(name, way)
    # The namespace alone switches nothing; the command does, and so does the program that asks for it.
    assert printed.pop("eager") is (way != RUN and name == "dense_output")
    assert printed == {
        "shapes": [[[1], [5]]],
        "rows": 40,
        "metrics": ["global_step", "loss", "mse"],
        "global_step": 5,
    }


def test_predict_gives_arrays_row_by_row_or_batch_by_batch(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("predict_options", way)
    assert (printed["rows"], printed["kinds"], printed["hook_runs"]) == (40, ["ndarray"], 2)
    assert printed["batches"] == [[["output"], [32, 1]], [["output"], [8, 1]]]
    assert [len(row) for row in printed["dense_output"]] == [5, 5, 5]
    assert printed["output_at_start"] != printed["output"][:1]


def test_evaluate_gives_the_metrics_and_writes_them(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("predict_options", way)
    model_dir = outcomes.model_dir("predict_options", way)
    for metrics, folder in ((printed["metrics"], "eval"), (printed["one_batch"], "eval_one")):
        assert list(metrics) == ["loss", "mean", "mse", "global_step"]
        assert _scalars(model_dir / folder) == {key: metrics[key] for key in ("loss", "mean", "mse")}


def _scalars(folder: Path) -> dict[str, float]:
    (file,) = folder.glob("events.out.tfevents.*")
    events = tf.compat.v1.train.summary_iterator(str(file))
    values = [value for event in events for value in event.summary.value]
    return {value.tag: value.simple_value for value in values if value.HasField("simple_value")}


def test_an_estimator_that_keeps_a_tensor_is_refused_with_the_ways_out(outcomes: Outcomes, way: str) -> None:
    kind, is_value_error, text = outcomes.printed("kept_tensor", way)["told"]
    assert (kind, is_value_error) == ("UsageError", True)
    assert "KeepingEstimator does override ['_call_model_fn']" in text
    for way_out in ("declare it in `predictions`", "predict(taps=[", "Watch(", 'est.layers["'):
        assert way_out in text


def test_attributes_are_values(outcomes: Outcomes, way: str) -> None:
    assert outcomes.printed("values_of_attributes", way) == {
        "kinds": ["ndarray", "ndarray"],
        "shapes": [[3, 5], [5, 1]],
        "weights": ["dense/bias", "dense/kernel", "hidden/bias", "hidden/kernel"],
        "output": True,
        "tapped": ["tensors/softmax_tensor:0", "softmax_tensor"],
        "softmax": True,
    }
