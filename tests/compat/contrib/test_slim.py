"""`tf.contrib.slim` by way of `tf_slim`: its nets and loops work, and its layers are ours."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests import children

import lightwell as lw
from lightwell import tf1 as tf
from lightwell.compat.tf1.contrib import import_below

slim = tf.contrib.slim


def test_a_net_has_the_variables_of_its_checkpoints() -> None:
    inception = import_below("slim", ["python", "slim", "nets"], ["inception_v1"]).inception_v1
    with tf.Graph().as_default():
        with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm):
            net, ends = inception.inception_v1_base(tf.zeros([1, 32, 32, 3]), final_endpoint="Conv2d_2b_1x1")
        names = [one.op.name for one in tf.global_variables()]
        assert net.shape == [1, 8, 8, 64]
        assert names[0] == "InceptionV1/Conv2d_1a_7x7/weights"
        assert "InceptionV1/Conv2d_2b_1x1/BatchNorm/moving_variance" in names
        assert list(ends)[-1] == "Conv2d_2b_1x1"


def test_a_net_of_vgg_goes_by_one_scope() -> None:
    vgg = import_below("slim", ["nets"], ["vgg"]).vgg
    with tf.Graph().as_default():
        with slim.arg_scope(vgg.vgg_arg_scope(weight_decay=0.1)), slim.arg_scope([slim.conv2d], trainable=False):
            out = slim.repeat(tf.zeros([1, 8, 8, 3]), 2, slim.conv2d, 4, [3, 3], scope="conv1")
            normal = slim.instance_norm(out)
        assert normal.shape == [1, 8, 8, 4]
        assert len(slim.losses.get_regularization_losses()) == 2
        assert [one.op.name for one in tf.trainable_variables()] == ["InstanceNorm/beta", "InstanceNorm/gamma"]


def test_images_are_decoded_from_examples() -> None:
    picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        example = tf.train.Example()
        example.features.feature["image/encoded"].bytes_list.value.append(session.run(tf.io.encode_png(picture)))
        example.features.feature["image/format"].bytes_list.value.append(b"png")
        decoder = slim.tfexample_decoder.TFExampleDecoder(
            {"image/encoded": tf.FixedLenFeature([], tf.string), "image/format": tf.FixedLenFeature([], tf.string)},
            {"image": slim.tfexample_decoder.Image()},
        )
        (image,) = decoder.decode(tf.constant(example.SerializeToString()), ["image"])
        np.testing.assert_array_equal(session.run(image), picture)


def test_a_program_that_imports_the_package_by_itself_gets_it_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "tf_slim"]:
        monkeypatch.delitem(sys.modules, name)
    with lw.install():
        package = importlib.import_module("tf_slim")
        nets = importlib.import_module("tf_slim.nets.vgg")
        assert package.conv2d is nets.layers.conv2d is tf.contrib.layers.conv2d
        with tf.Graph().as_default(), package.arg_scope([package.conv2d], normalizer_fn=package.batch_norm):
            net = package.conv2d(tf.ones([1, 4, 4, 2]), 3, [3, 3])
            assert net.shape == [1, 4, 4, 3]
            assert "Conv/BatchNorm/moving_mean" in [one.op.name for one in tf.global_variables()]
    assert package.conv2d is not tf.contrib.layers.conv2d
    for name in [name for name in sys.modules if name.partition(".")[0] == "tf_slim"]:
        monkeypatch.delitem(sys.modules, name)


PROGRAM = """
import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim
import tensorflow.contrib.layers as layers
from tensorflow.contrib import framework, layers as again, slim as slim_again
from tensorflow.contrib.framework import arg_scope, get_global_step
from tensorflow.contrib.framework.python.ops import add_arg_scope, arg_scope as also, variables
from tensorflow.contrib.layers import fully_connected, l2_regularizer
from tensorflow.contrib.layers.python.layers import initializers, layers as deep, regularizers, utils
from tensorflow.contrib.layers.python.layers.layers import batch_norm
from tensorflow.contrib.losses.python.losses import loss_ops
from tensorflow.contrib.metrics.python.ops import metric_ops
from tensorflow.contrib.slim.nets import resnet_v1, vgg
from tensorflow.contrib.slim.python.slim.nets import inception_v3
assert initializers.xavier_initializer is layers.xavier_initializer is slim.xavier_initializer
assert deep.fully_connected is fully_connected is slim.fully_connected and batch_norm is layers.batch_norm
assert loss_ops.mean_squared_error is slim.losses.mean_squared_error
assert metric_ops.streaming_mean is slim.metrics.streaming_mean
with arg_scope([fully_connected], activation_fn=None):
    print(fully_connected(tf.ones([2, 3]), 4).op.name, callable(resnet_v1.resnet_v1_50))


def net():
    return slim.fully_connected(tf.constant(np.random.RandomState(0).normal(size=[8, 4]), tf.float32), 1, None)


def train(steps):
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        slim.losses.mean_squared_error(net(), tf.ones([8, 1]))
        total, optimizer = slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.1)
        step = slim.learning.create_train_op(total, optimizer, clip_gradient_norm=1.0, summarize_gradients=True)
        return slim.learning.train(step, "model", number_of_steps=steps)


first = train(1)
print(first > train(4) > 0)
with tf.Graph().as_default():
    tf.train.get_or_create_global_step()
    names, updates = slim.metrics.aggregate_metric_map({"mean": slim.metrics.streaming_mean(net())})
    settings = {"num_evals": 2, "eval_op": list(updates.values()), "final_op": names}
    told = slim.evaluation.evaluate_once("", tf.train.latest_checkpoint("model"), "eval", **settings)
    print(np.isfinite(told["mean"]))
"""


def test_a_program_imports_it_by_every_spelling_and_trains_in_its_loops(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "lightwell", "run", "program.py"],
        cwd=tmp_path,
        env=children.environment(TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["fully_connected/BiasAdd", "True", "True", "True"]
