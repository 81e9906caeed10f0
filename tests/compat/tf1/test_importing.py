"""Imports as a TensorFlow 1 program means them. They switch the process, so all of it happens in another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import children

_SCENE = """
import types
import tensorflow
from lightwell import tf1
from lightwell.compat.tf1.importing import import_tensorflow as load

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
assert load("tensorflow.python.data", ("Dataset",)).Dataset is tf1.data.Dataset
assert tf1.python.framework.ops.Graph is tensorflow.Graph
sequence = load("tensorflow.python.keras.preprocessing", ("sequence",)).sequence
assert sequence.pad_sequences is tensorflow.keras.preprocessing.sequence.pad_sequences
assert load("tensorflow.python.keras.layers.core", ("Dense",)).Dense is tensorflow.keras.layers.Dense
private = "tensorflow.python."
for module, names in {
    "framework.ops": "Tensor IndexedSlices register_tensor_conversion_function convert_to_tensor name_scope GraphKeys",
    "framework.graph_util": "convert_variables_to_constants extract_sub_graph",
    "ops.control_flow_ops": "cond while_loop case Assert group with_dependencies",
    "ops.functional_ops": "map_fn scan foldl foldr",
    "ops.nn": "dynamic_rnn rnn_cell relu moments",
    "util.nest": "is_sequence flatten flatten_up_to",
    "layers.normalization": "BatchNormalization batch_normalization",
    "training.tracking": "base tracking data_structures",
    "training.tracking.tracking": "AutoTrackable",
    "training.checkpointable.base": "CheckpointableBase",
    "distribute.distribution_strategy_context": "get_strategy get_replica_context",
    "pywrap_tensorflow": "NewCheckpointReader",
    "eager.function": "defun",
}.items():
    found = load(private + module, tuple(names.split()))
    assert [name for name in names.split() if not hasattr(found, name)] == [], module
assert load(private + "training", ("tracking",)).tracking.base.Trackable
assert load(private + "layers", ("core",)).core.Dense is tf1.layers.Dense
assert load(private + "layers.base", ("Layer",)).Layer is tf1.layers.Layer
assert load(private + "ops", ("rnn_cell_impl",)).rnn_cell_impl.LSTMStateTuple is tf1.nn.rnn_cell.LSTMStateTuple
assert load("tensorflow.contrib.framework", ("nest",)).nest.is_sequence([1])
with load("tensorflow.contrib.compiler", ("jit",)).jit.experimental_jit_scope():
    assert tf1.zeros([2]).op.get_attr("_XlaCompile")

def refused(name, text):
    try:
        load(name, ("x",))
    except ModuleNotFoundError as error:
        assert text in str(error) and error.name == name, error
    else:
        raise AssertionError(name)

refused("tensorflow.contrib.nothing_like_it", "tf.contrib.nothing_like_it is gone")

# Programs import more of contrib than they use.
def gone(call, text):
    try:
        call()
    except AttributeError as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)

load("tensorflow.contrib.quantize")
gone(lambda: tf1.contrib.quantize.experimental_create_graph, "tf.contrib.quantize.experimental_create_graph is gone")
sources = load("tensorflow.contrib.layers.python.layers", ("utils", "feature_column", "target_column"))
gone(lambda: sources.utils.last_dimension, "tf.contrib.layers.python.layers.utils.last_dimension is gone")
gone(lambda: sources.target_column(1), "tf.contrib.layers.python.layers.target_column is gone")
assert sources.feature_column.real_valued_column is tf1.contrib.layers.real_valued_column
assert tf1.contrib.layers.python.layers.utils is sources.utils and not hasattr(sources, "never_imported")
trees = load("tensorflow.contrib.boosted_trees.python.ops.model_ops", ("Tree",))
gone(lambda: types.new_class("Mine", (trees.Tree,)), "ops.model_ops.Tree is gone")
cell = load("tensorflow.contrib.rnn.python.ops.core_rnn_cell", ("LSTMCell",))
assert cell.LSTMCell is tf1.nn.rnn_cell.LSTMCell

# tf_slim carries three namespaces on, its modules too.
load("tensorflow.contrib.slim.nets")
assert tf1.contrib.slim.nets.__name__ == "tf_slim.nets" and tf1.contrib.slim.pool() == "slim pool"
assert tf1.contrib.slim.conv2d is tf1.contrib.layers.conv2d
assert load("tensorflow.contrib.slim", ("nets",)).nets is tf1.contrib.slim.nets
assert load("tensorflow.contrib.slim.nets", ("vgg",)).vgg.vgg_16() == "slim vgg"
assert load("tensorflow.contrib.slim.python.slim.nets", ("vgg",)).vgg is tf1.contrib.slim.nets.vgg
assert load("tensorflow.contrib.slim.python.slim.nets.vgg", ("vgg_16",)).vgg_16() == "slim vgg"
scope = load("tensorflow.contrib.framework.python.ops", ("arg_scope",)).arg_scope
assert scope is tf1.contrib.slim.arg_scope is tf1.contrib.framework.arg_scope
assert tf1.contrib.layers.instance_norm() == "slim norm"
assert load("tensorflow.contrib.layers.python.layers.layers", ("instance_norm",)).instance_norm() == "slim norm"
assert tf1.contrib.framework.nest.map_structure is tensorflow.nest.map_structure
assert tf1.contrib.framework.nest.is_sequence is tensorflow.nest.is_nested
assert {"conv2d", "pool"} <= set(dir(tf1.contrib.slim)) & set(tf1.contrib.slim.__all__)
gone(lambda: tf1.contrib.layers.nothing, "The package tf_slim.layers does not have it either")
refused("tensorflow.examples.tutorials.word2vec", "There is: tf.examples.tutorials.mnist.input_data")
assert load("tensorflow.examples.tutorials.mnist", ("input_data",)).input_data is load(
    "tensorflow.examples.tutorials.mnist.input_data", ("read_data_sets",))
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


_SLIM = {
    "__init__.py": "def conv2d(): return 'slim conv2d'\ndef pool(): return 'slim pool'\n",
    "layers/__init__.py": "from tf_slim.layers.layers import instance_norm\n",
    "layers/layers.py": "def instance_norm(): return 'slim norm'\n",
    "nets/__init__.py": "",
    "nets/vgg.py": "def vgg_16(): return 'slim vgg'\n",
}


def test_imports_and_behavior_of_a_tensorflow_1_program(tmp_path: Path) -> None:
    for name, text in _SLIM.items():
        (tmp_path / "tf_slim" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tf_slim" / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", _SCENE],
        env=children.environment(tmp_path, TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "fine", done.stderr
