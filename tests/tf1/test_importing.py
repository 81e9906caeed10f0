"""Imports as a TensorFlow 1 program means them. They switch the process, so all of it happens in another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SCENE = """
import tensorflow
from lightwell import tf1
from lightwell.tf1.importing import import_tensorflow as load

assert tensorflow.executing_eagerly()
assert load("tensorflow") is tf1
assert not tensorflow.executing_eagerly()
assert load("tensorflow", ("layers",)) is tf1
assert load("tensorflow.contrib.rnn") is tf1
assert load("tensorflow.contrib.rnn", ("LSTMCell",)).LSTMCell is tf1.nn.rnn_cell.LSTMCell
assert load("tensorflow.compat.v1", ("layers",)) is tf1
assert load("tensorflow.train", ("AdamOptimizer",)) is tf1.train
assert load("tensorflow.keras.layers", ("Dense",)).Dense is tensorflow.keras.layers.Dense
assert load("tensorflow.keras", ("layers",)).layers.Dense is tensorflow.keras.layers.Dense
assert load("tensorflow.python.framework", ("ops", "*")).ops.Graph is tensorflow.Graph
assert load("tensorflow.python.framework.ops") is tf1
assert tf1.python.framework.ops.Graph is tensorflow.Graph

def refused(name, text):
    try:
        load(name, ("x",))
    except ModuleNotFoundError as error:
        assert text in str(error) and error.name == name, error
    else:
        raise AssertionError(name)

refused("tensorflow.contrib.slim", "tf_slim")
refused("tensorflow.examples.tutorials.mnist", "tf.keras.datasets.mnist.load_data()")
refused("tensorflow.nothing_like_it", "No module named 'tensorflow.nothing_like_it'")
refused("tensorflow.python.nothing", "No module named 'tensorflow.python.nothing'")

# How TensorFlow behaves now.
v1 = tensorflow.compat.v1
x = tf1.placeholder(tf1.float32, [None, 4])
assert x.shape[1].value == x.get_shape()[1].value == 4 and x.shape[0].value is None
assert (x == None) is False and {x: 1}[x] == 1
assert v1.resource_variables_enabled() and v1.control_flow_v2_enabled()
w = tf1.get_variable("w", [4, 2])
assert type(w).__name__ == "ResourceVariable" and w.op.name == "w"
with tf1.Session() as session:
    session.run(tf1.global_variables_initializer())
    assert session.run(tf1.matmul(x, w), {x: [[1, 2, 3, 4]]}).shape == (1, 2)
assert tensorflow.keras.layers.Dense(3)(x).shape[1].value == 3
tf1.enable_tf1_behavior()
print("fine")
"""


def test_imports_and_behavior_of_a_tensorflow_1_program() -> None:
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", _SCENE],
        env={**os.environ, "PYTHONPATH": str(source), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "fine", done.stderr
