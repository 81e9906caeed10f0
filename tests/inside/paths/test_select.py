"""What a selection means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.inside.paths import models
from tests.inside.paths.models import EVAL, PREDICT, TRAIN

import lightwell as lw
from lightwell.inside.paths.catalogue import Catalogue
from lightwell.inside.paths.select import select
from lightwell.run.engine.program import Program

v1 = tf.compat.v1


def _keys(program: Program, selection: Any) -> list[str]:
    return [choice.key for choice in select(Catalogue(program), selection, "here")]


def _paths(program: Program, selection: Any) -> list[str]:
    return [choice.entry.path for choice in select(Catalogue(program), selection, "here")]


@pytest.mark.parametrize(
    ("selection", "paths"),
    [
        ("layers/hidden", ["layers/hidden"]),
        ("layers/hidden/input", ["layers/hidden/input"]),
        ("hidden", ["layers/hidden"]),
        ("encoder/dense", ["layers/encoder/dense"]),
        ("softmax_tensor", ["tensors/softmax_tensor:0"]),
        ("tensors/softmax_tensor", ["tensors/softmax_tensor:0"]),
        ("layers/conv*", ["layers/conv2d", "layers/conv2d_1"]),
        ("layers/conv*/input", ["layers/conv2d/input", "layers/conv2d_1/input"]),
        ("conv*", ["layers/conv2d", "layers/conv2d_1"]),
        ("features", ["features/x", "features/age", "features/city"]),
        ("labels", ["labels"]),
        ("predictions", ["predictions/probabilities", "predictions/classes"]),
        ("weights/hidden/*", ["weights/hidden/kernel", "weights/hidden/bias"]),
        ("weights/hidden/kernel:0", ["weights/hidden/kernel"]),
        ("gradients/weights/conv2d*/bias", ["gradients/weights/conv2d/bias", "gradients/weights/conv2d_1/bias"]),
        ("slots/hidden/bias/*", ["slots/hidden/bias/Adam", "slots/hidden/bias/Adam_1"]),
        # A layer that is called twice, and one with several outputs.
        ("layers/shared", ["layers/shared:0"]),
        ("layers/shared/input", ["layers/shared:0/input"]),
        ("layers/shared:1", ["layers/shared:1"]),
        ("layers/shared:1/input", ["layers/shared:1/input"]),
        ("layers/hidden:0", ["layers/hidden"]),
        ("layers/rnn/lstm_cell", [f"layers/rnn/lstm_cell[{i}]" for i in range(3)]),
        ("layers/rnn/lstm_cell[1]", ["layers/rnn/lstm_cell[1]"]),
        ("layers/rnn/lstm_cell[?]", [f"layers/rnn/lstm_cell[{i}]" for i in range(3)]),
        ("gradients/layers/shared", ["gradients/layers/shared:0"]),
        # Not only strings.
        (lw.layers.Conv2D, ["layers/conv2d", "layers/conv2d_1"]),
        (["loss", "hidden", ["labels", "loss"]], ["loss", "layers/hidden", "labels"]),
        (lambda entry: entry.section == "weights" and entry.path.endswith("bias"), None),
    ],
)
def test_selections(selection: Any, paths: list[str] | None, everything: Callable[[str], Program]) -> None:
    if paths is None:
        paths = [f"weights/{name}/bias" for name in "conv2d conv2d_1 rnn/lstm_cell encoder/dense shared".split()]
        paths += ["weights/hidden/bias", "weights/dense/bias"]
    assert _paths(everything(TRAIN), selection) == paths


def test_a_value_is_handed_out_under_the_name_it_was_asked_by(everything: Callable[[str], Program]) -> None:
    program = everything(TRAIN)
    assert _keys(program, ["hidden", "softmax_tensor", "layers/shared"]) == [
        "hidden",
        "softmax_tensor",
        "layers/shared",
    ]
    assert _keys(program, "layers/conv*") == ["layers/conv2d", "layers/conv2d_1"]
    assert _keys(program, "layers/rnn/lstm_cell")[0] == "layers/rnn/lstm_cell[0]"


def test_the_same_paths_in_every_mode(everything: Callable[[str], Program]) -> None:
    for section in ("features", "layers", "weights", "predictions"):
        paths = {mode: models.paths(everything(mode), section) for mode in (TRAIN, EVAL, PREDICT)}
        assert paths[TRAIN] == paths[EVAL] == paths[PREDICT]


def test_nested_features_are_selected_by_their_part() -> None:
    def input_fn() -> Any:
        user = {"age": np.ones([4], np.float32), "id": np.arange(4)}
        features = {"user": user, "pair": (np.zeros([4], np.float32), np.ones([4], np.float32))}
        return tf.data.Dataset.from_tensor_slices((features, {"click": np.ones([4], np.float32)})).batch(2)

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        return lw.EstimatorSpec(mode, predictions=features["user"]["age"], loss=tf.reduce_sum(labels["click"]))

    program = models.program(model_fn, EVAL, input_fn)
    assert _paths(program, "features/user") == ["features/user/age", "features/user/id"]
    assert _paths(program, "features/pair/1") == ["features/pair/1"]
    assert _paths(program, "labels/*") == ["labels/click"]
    assert _paths(program, "predictions") == ["predictions"]


def test_the_parts_of_a_partitioned_variable_are_selected_by_its_name() -> None:
    def model_fn(features: Mapping[str, Any], mode: str) -> lw.EstimatorSpec:
        with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(2)):
            return lw.EstimatorSpec(mode, predictions=lw.layers.dense(features["x"], 2, use_bias=False, name="d"))

    program = models.program(model_fn, PREDICT)
    assert _paths(program, "weights/p/d/kernel") == ["weights/p/d/kernel/part_0", "weights/p/d/kernel/part_1"]


def test_collections_hold_tensors_only() -> None:
    def model_fn(features: Mapping[str, Any], mode: str) -> lw.EstimatorSpec:
        for value in (features["age"], features["x"], "a word", v1.get_variable("v", [])):
            v1.add_to_collection("mixed", value)
        v1.add_to_collection("words", "a word")
        return lw.EstimatorSpec(mode, predictions=features["age"])

    program = models.program(model_fn, PREDICT)
    assert _paths(program, "collections/mixed") == ["collections/mixed[0]", "collections/mixed[1]"]
    with pytest.raises(lw.errors.PathError, match="names nothing"):
        _paths(program, "collections/words")


def test_what_lightwell_adds_to_a_graph_is_no_part_of_the_model(everything: Callable[[str], Program]) -> None:
    program = everything(TRAIN)
    assert any(op.name.startswith("lightwell/") for op in program.graph.get_operations())
    assert not [path for path in _paths(program, "tensors/*") if "lightwell/" in path]
