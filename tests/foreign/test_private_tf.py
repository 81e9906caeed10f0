"""What is reached behind TensorFlow's public names is still there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests.conftest import LogLines

import lightwell as lw
from lightwell.foreign import private_tf

v1 = tf.compat.v1


def test_an_operation_that_takes_no_more_inputs_is_left_alone(log: Any) -> None:
    private_tf.add_control_inputs(object(), [object()])
    assert "has no object._add_control_inputs, which Lightwell leans on. The value of a Keras metric" in log.lines[-1]


def test_a_saved_model_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").touch()
    monkeypatch.setitem(sys.modules, "tensorflow.core.protobuf", None)
    with pytest.raises(NotImplementedError, match=r"TensorFlow \S+ has no public way to read a saved_model\.pb, and "):
        lw.from_saved_model(tmp_path)


def test_without_a_way_to_eager_execution_it_is_told(monkeypatch: pytest.MonkeyPatch, log: LogLines) -> None:
    monkeypatch.delattr(tf.__internal__.eager_context, "eager_mode")
    with private_tf.eager_mode():
        assert tf.executing_eagerly()
    assert log.having("has no __internal__.eager_context.eager_mode, which Lightwell leans on. A TFLite file")


def test_feature_columns_that_moved_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert private_tf.feature_columns().DenseColumn is not None
    monkeypatch.delattr(tf.__internal__.feature_column, "DenseColumn")
    with pytest.raises(
        NotImplementedError, match=r"has no tf\.__internal__\.feature_column\.DenseColumn, which DenseFe"
    ):
        lw.feature_columns.DenseFeatures([tf.feature_column.numeric_column("x")])
