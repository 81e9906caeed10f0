"""What a TPUEstimatorSpec refuses, in the words of tf.estimator 2.15.1."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from lightwell.compat.v1.estimator import tpu


def metric_fn(labels: Any, logits: Any) -> Any:
    return {}


@pytest.mark.parametrize(
    ("fields", "kind", "text"),
    [
        ({"eval_metrics": 3}, ValueError, "eval_metrics should be tuple or list, .* got 3"),
        ({"eval_metrics": (metric_fn,)}, ValueError, "eval_metrics should have two elements"),
        ({"eval_metrics": (3, [1])}, TypeError, r"eval_metrics\[0\] should be callable. Got 3"),
        ({"eval_metrics": (metric_fn, 3)}, ValueError, r"eval_metrics\[1\] should be tuple or list, or dict. Got 3"),
        (
            {"eval_metrics": (metric_fn, [1])},
            RuntimeError,
            r"In TPUEstimatorSpec.eval_metrics, length of tensors 1 does not match method args of the function "
            r"'metric_fn', which takes 2: \['labels', 'logits'\]",
        ),
        ({"host_call": 3}, ValueError, "host_call should be tuple or list"),
        ({"scaffold_fn": 3}, TypeError, "scaffold_fn should be callable, got 3"),
        ({"training_hooks": [3]}, TypeError, "training_hooks: 3 is not a hook"),
        ({"loss": None}, ValueError, "Missing loss"),
        ({"train_op": None}, ValueError, "Missing train_op"),
    ],
)
def test_refused(fields: dict[str, Any], kind: type[Exception], text: str) -> None:
    with tf.Graph().as_default():
        given = {"loss": tf.constant(1.0), "train_op": tf.no_op(), **fields}
        with pytest.raises(kind, match=text):
            tpu.TPUEstimatorSpec("train", **given)


def test_a_function_of_any_number_of_tensors_is_accepted() -> None:
    with tf.Graph().as_default():
        spec = tpu.TPUEstimatorSpec(
            "eval", loss=tf.constant(1.0), eval_metrics=(lambda *tensors: {}, [tf.constant(1), tf.constant(2)])
        )
        assert spec.as_estimator_spec().eval_metric_ops == {}
