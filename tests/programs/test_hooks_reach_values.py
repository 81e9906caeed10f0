"""Hooks that reach features, labels, layers and weights: what each program saw, both ways."""

from __future__ import annotations

import math

import pytest
from tests.programs.cases import WAYS
from tests.programs.conftest import Outcomes

pytestmark = pytest.mark.parametrize("way", WAYS)


def test_collections_are_seen_in_every_mode(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("collections_in_hooks", way)
    assert printed["feature_shapes"] == [[4, 1]] * 5  # three steps of training, two of evaluation
    assert printed["prediction_shapes"] == [[4, 1]] * 5  # three steps of training, two of prediction
    assert (printed["eager"], printed["global_step"], printed["rows"]) == (True, 3, 8)


def test_what_a_functional_layer_returns_knows_its_weights(outcomes: Outcomes, way: str) -> None:
    assert outcomes.printed("weights_in_hooks", way) == {
        "kernel": [[3, 4]] * 4,
        "bias": [[4]] * 4,
        "moved": True,
        "still": True,
        "rows": 8,
    }


def test_a_watch_sees_the_step_without_a_line_in_model_fn(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("watch_features", way)
    assert printed["watched"] == [[2, True, [4, 4], True], [4, True, [4, 4], True]]
    assert printed["old"] == [{"feature": [4, 1], "hidden": [4, 4]}] * 7  # five steps of training, two of evaluation


def test_training_stops_on_features_outputs_and_by_request(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("stop_on_values", way)
    assert printed["steps"] == {
        "old_hook": 6,  # the first batch with an income above 20
        "watch": 6,
        "stop_when_features": 6,
        "stop_when_output": 1,
        "stop_when_loss": 10,  # never true: the end of the data
    }
    assert all(math.isfinite(number) and number > 0 for pair in printed["times"] for number in pair)
    for seconds, rate in printed["times"]:
        assert math.isclose(rate * seconds, 4, rel_tol=1e-6)  # one batch of four examples


def test_mistakes_are_told_with_the_hook_the_name_and_the_nearest(outcomes: Outcomes, way: str) -> None:
    told = outcomes.printed("hook_mistakes", way)
    texts = {name: text for name, (_, text) in told.items()}
    assert texts["empty_collection"].startswith(
        "EmptyCollection.before_run: the graph collection 'my_feature' is empty. The nearest is 'my_features'"
    )
    nearest = "'softmax_tenser:0' names nothing in this model. Did you mean 'tensors/softmax_tensor:0'?"
    assert texts["no_such_name"] == f"NoSuchName.before_run: {nearest}"
    assert texts["no_such_tensor"] == f"NoSuchTensor.begin: {nearest}"
    assert texts["logging"] == f"LoggingTensorHook.begin: {nearest}"
    assert texts["adds_ops"].startswith("AddsOps.before_run adds to the graph (hook_mistakes.py, line ")
    assert texts["adds_ops"].endswith("Make tensors and operations in begin(), and keep them in the hook.")
