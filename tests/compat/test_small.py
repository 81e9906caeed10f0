"""The small private things that programs still import."""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import lightwell as lw
from lightwell.compat.small import TaskType, estimator_export, fn_args, parse_input_fn_result

RECORD = json.loads((Path(__file__).parents[1] / "data/oracle-2.15.1/estimator_names.json").read_text())


def test_the_export_mark_leaves_things_alone() -> None:
    @estimator_export("estimator.Mine", v1=["estimator.Mine"])
    class Mine:
        pass

    assert Mine.__name__ == "Mine"


def test_fn_args_names_what_can_be_given_by_position() -> None:
    def function(a: int, b: int, c: int = 1, *rest: int, d: int = 2, **more: int) -> None:
        del a, b, c, rest, d, more

    class Callable:
        def __call__(self, x: int, y: int = 1) -> None:
            del x, y

    assert fn_args(function) == ("a", "b", "c")
    assert fn_args(functools.partial(function, 1, c=3)) == ("b",)
    assert fn_args(Callable()) == ("x", "y")


def test_the_words_are_those_of_the_original() -> None:
    assert {key: value for key, value in vars(TaskType).items() if not key.startswith("_")} == RECORD["TaskType"]


@pytest.mark.parametrize("labels", [[7], None])
def test_a_dataset_as_features_labels_and_a_hook_that_starts_it(labels: Any) -> None:
    element = {"x": [3]} if labels is None else ({"x": [3]}, labels)
    with tf.Graph().as_default():
        features, given, hooks = parse_input_fn_result(tf.data.Dataset.from_tensors(element))
        with tf.compat.v1.train.MonitoredSession(hooks=hooks) as session:
            assert session.run(features["x"]) == [3]
        assert (given is None) == (labels is None)


def test_tensors_are_handed_on_and_need_no_hook() -> None:
    assert parse_input_fn_result(({"x": 1}, 2)) == ({"x": 1}, 2, [])
    assert parse_input_fn_result({"x": 1}) == ({"x": 1}, None, [])
    with pytest.raises(ValueError, match=r"input_fn should return \(features, labels\) as a len 2 tuple, got 3 values"):
        parse_input_fn_result((1, 2, 3))


def test_all_classes_of_each_row() -> None:
    head = importlib.import_module("lightwell.compat.small")
    logits = tf.zeros([2, 3])
    assert head.all_class_ids(logits, 3).numpy().tolist() == [[0, 1, 2]] * 2
    assert head.all_classes(logits, 2).numpy().tolist() == [[b"0", b"1"]] * 2
    assert head.all_classes(logits, 2, ["no", "yes"]).numpy().tolist() == [[b"no", b"yes"]] * 2
    with lw.install():
        private = importlib.import_module("tensorflow_estimator.python.estimator.canned.head")
        assert private._all_class_ids is head.all_class_ids
        assert importlib.import_module("tensorflow.python.training.tracking.base").Trackable
