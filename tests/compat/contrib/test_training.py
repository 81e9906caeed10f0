"""`tf.contrib.training`: HParams, train operations and servers as TensorFlow 1.15.5 had them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.compat.contrib import same, training_cases

import lightwell as lw
from lightwell import tf1

RECORDED = same.recorded("training")
HParams = tf1.contrib.training.HParams


@pytest.mark.parametrize("name", sorted(training_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(training_cases.CASES[name], tf1.contrib), RECORDED["cases"][name], name)


def test_facts_as_recorded() -> None:
    same.assert_same(same.plain(training_cases.facts(tf1.contrib)), RECORDED["facts"], "facts")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda: HParams(a=1).parse("b=2"), "Unknown hyperparameter type for b. There are: a."),
        (lambda: HParams(a=1).parse("a"), "Malformed hyperparameter value: a. Write name=value"),
        (lambda: HParams(a=1).parse("a=1.5"), "Could not parse hparam 'a' of type 'int' with value '1.5' in a=1.5"),
        (lambda: HParams(a=1).parse("a=1,a=2"), "Multiple assignments to variable 'a'"),
        (lambda: HParams(a=[1]).parse("a=1"), "Must pass a list for multi-valued parameter: a."),
        (lambda: HParams(a=[1]).parse("a[0]=[1]"), "Assignment of a list to a list index"),
        (lambda: HParams(a=1).set_hparam("a", [1]), "Must not pass a list for single-valued parameter: a"),
        (lambda: HParams(a=1).set_hparam("a", "x"), "Could not cast hparam 'a' of type '<class 'int'>' from value 'x'"),
        (lambda: HParams(a=1).get("a", "x"), "Hparam 'a' of type '<class 'int'>' is incompatible with default=x"),
        (lambda: HParams(a=1).add_hparam("a", 2), "Hyperparameter name is reserved: a"),
        (lambda: HParams(a=[]), "Multi-valued hyperparameters cannot be empty: a"),
        (lambda: HParams(hparam_def=1), "hparam_def is a protocol buffer of TensorFlow 1"),
        (lambda: HParams(a=1).to_proto(), "Use to_json and parse_json"),
        (lambda: HParams.from_proto(1), "Use to_json and parse_json"),
        (lambda: tf1.contrib.training.multiply_gradients([], {}), "`grads_and_vars` must be a non-empty list"),
        (lambda: tf1.contrib.training.multiply_gradients([1], {}), "`gradient_multipliers` is empty"),
    ],
)
def test_refused(action: Any, text: str) -> None:
    with pytest.raises(ValueError) as raised:
        action()
    assert text in str(raised.value)


def test_an_unknown_attribute_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match=r"'HParams' object has no attribute 'b'. It has: a."):
        _ = HParams(a=1).b


def test_hparams_are_the_params_of_an_estimator(tmp_path: Path) -> None:
    seen = []

    def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
        seen.append((type(params), params.rate, "rate" in params))
        return tiny.linear(features, labels, mode, {})

    params = HParams(rate=0.5).parse("rate=0.25")
    lw.Estimator(model_fn, str(tmp_path), params=params).train(tiny.data, steps=1)
    assert seen == [(HParams, 0.25, True)]


def test_waiting_for_a_checkpoint(tmp_path: Path) -> None:
    wait = tf1.contrib.training.wait_for_new_checkpoint
    assert wait(str(tmp_path), timeout=0) is None
    estimator = tiny.trained(tmp_path)
    newest = estimator.latest_checkpoint()
    assert wait(str(tmp_path)) == newest
    assert wait(str(tmp_path), newest, seconds_to_sleep=0.01, timeout=0.02) is None
    assert next(tf1.contrib.training.checkpoints_iterator(str(tmp_path), timeout=0)) == newest


def test_what_needed_queues_says_what_to_use() -> None:
    with pytest.raises(AttributeError, match=r"bucket_by_sequence_length is gone.*dataset\.bucket_by_sequence_length"):
        tf1.contrib.training.bucket_by_sequence_length(1, [], 2, [3])
    with pytest.raises(ValueError, match="expected the operation of a variable"), tf.Graph().as_default():
        tf1.contrib.training.byte_size_load_fn(tf.no_op())
