"""Receiver functions take what the original's take (see tests/parity), and beyond it specs and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
export = lw.export


def shown(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: (tensor.dtype.name, tensor.shape.as_list()) for name, tensor in tensors.items()}


@pytest.mark.parametrize(
    "like",
    [tf.TensorSpec([7, 2], tf.int32), np.zeros([7, 2], np.int32), tf.zeros([7, 2], tf.int32)],
    ids=["a spec", "an array", "an eager tensor"],
)
def test_raw_features_are_told_by_specs_arrays_and_eager_tensors(like: Any) -> None:
    made = export.build_raw_serving_input_receiver_fn({"a": like})
    sized = export.build_raw_serving_input_receiver_fn({"a": like}, default_batch_size=3)
    for receiver_fn, rows in ((made, None), (sized, 3), (made, None)):  # one function serves many graphs
        with tf.Graph().as_default():
            receiver = receiver_fn()
            assert shown(receiver.features) == {"a": ("int32", [rows, 2])}
            assert receiver.receiver_tensors["a"] is receiver.features["a"]


def test_the_faces_share_them() -> None:
    from lightwell.compat.v1 import estimator as v1_face

    assert v1_face.export.ServingInputReceiver is lw.estimator.export.ServingInputReceiver
    assert export.ServingInputReceiver is lw.estimator.export.ServingInputReceiver


def test_receivers_are_tuples() -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        features, tensors, alternatives = export.ServingInputReceiver({"x": x}, x)
        assert (features, tensors, alternatives) == ({"x": x}, {"input": x}, None)
        receiver = export.TensorServingInputReceiver(x, {"x": x})
        assert receiver._replace(receiver_tensors={"y": x}).receiver_tensors == {"y": x}
        assert receiver._asdict()["features"] is x


def test_like_an_input_fn() -> None:
    from lightwell.estimator.export.receiver_fns import build_supervised_input_receiver_fn_from_input_fn as like

    with tf.Graph().as_default() as graph:
        receiver = like(tiny.data, repeat=1)()
        assert shown(receiver.receiver_tensors) == {"x": ("float32", [None]), "label": ("float32", [None])}
        assert [op.type for op in graph.get_operations()] == ["Placeholder", "Placeholder"]
    with pytest.raises(ValueError, match=r"input_fn gave no labels, .*Return a \(features, labels\) pair"):
        like(lambda: {"x": tf.ones([2])})


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: export.build_raw_serving_input_receiver_fn(tf.ones([2]))(),
            r"build_raw_serving_input_receiver_fn: features must be a dict of tensors by name, got .*Tensor",
        ),
        (
            lambda: export.build_raw_serving_input_receiver_fn({"a": [1.0]})(),
            r"features: 'a' must be a tensor, a tf\.TensorSpec or an array, got list \[1\.0\]\. It tells type",
        ),
        (
            lambda: lw.estimator.experimental.build_raw_supervised_input_receiver_fn(tf.ones([2]), None)(),
            r"build_raw_supervised_input_receiver_fn: labels: 'label' must be a tensor, .*got NoneType None",
        ),
    ],
)
def test_refusals(make: Any, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(lw.errors.WrongType, match=text):
        make()
