"""`tf.contrib` of the TF 1 namespace: what lives on is there, the rest says what to use."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import tensorflow

import lightwell.rnn_cell
from lightwell import tf1 as tf
from lightwell.tf1 import contrib


def test_what_lives_on_is_the_living_thing() -> None:
    assert tf.contrib.rnn.BasicLSTMCell is lightwell.rnn_cell.BasicLSTMCell
    assert tf.contrib.rnn.static_rnn is tensorflow.compat.v1.nn.static_rnn
    assert tf.contrib.framework.nest is tensorflow.nest
    assert tf.contrib.learn.ModeKeys.TRAIN == "train"
    assert tf.contrib.cluster_resolver.TPUClusterResolver is tensorflow.distribute.cluster_resolver.TPUClusterResolver
    assert "BasicLSTMCell" in dir(tf.contrib.rnn)
    assert {"rnn", "layers", "tpu"} <= set(dir(tf.contrib))


def test_a_name_that_is_gone_fails_where_it_is_used() -> None:
    layers = tf.contrib.layers
    with pytest.raises(AttributeError, match=r"tf\.contrib\.layers\.layer_norm is gone: .*LayerNormalization"):
        layers.layer_norm(1)
    with pytest.raises(AttributeError, match=r"tf\.contrib\.slim is gone: .* tf_slim"):
        _ = tf.contrib.slim
    with pytest.raises(AttributeError, match=r"Nothing under tf\.contrib\.solvers has a successor"):
        _ = tf.contrib.solvers


def test_from_import_keeps_the_hint() -> None:
    with pytest.raises(ImportError, match="tf_slim"):
        exec("from lightwell.tf1.contrib import slim", {})


def test_a_package_that_carries_a_namespace_on_is_used_where_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    slim = ModuleType("tf_slim")
    slim.__spec__ = sys.__spec__
    monkeypatch.setitem(sys.modules, "tf_slim", slim)
    try:
        assert tf.contrib.slim is slim
    finally:
        vars(contrib).pop("slim", None)
