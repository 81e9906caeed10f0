"""The life of a layer, and what it refuses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


class Late(layers.Layer):
    """Adds its weight when called, not when built."""

    def call(self, inputs: Any) -> Any:
        return inputs * self.add_weight("late", [3], initializer=np.array([1.0, 2.0, 3.0]))


def test_weights_may_be_added_in_call_and_are_shared_by_later_calls() -> None:
    layer = Late()
    layer(tf.ones([2, 3]))
    output = layer(tf.ones([2, 3]))
    assert [variable.name for variable in v1.global_variables()] == ["late/late:0"]
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(output)[0].tolist() == [1.0, 2.0, 3.0]


def test_a_layer_is_built_without_its_build_saying_so() -> None:
    class Silent(layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.shape_seen = input_shape

    layer = Silent()
    layer([tf.ones([2, 3]), tf.ones([2, 4])])
    assert layer.built
    assert layer.shape_seen == [tf.TensorShape([2, 3]), tf.TensorShape([2, 4])]


def test_arrays_and_lists_of_numbers_become_tensors() -> None:
    assert layers.dense(np.ones([2, 3], np.float32), 2).shape == [2, 2]
    assert layers.dense([[1.0, 2.0, 3.0]], 2).shape == [1, 2]
    assert layers.flatten(tf.Variable(tf.ones([2, 3, 4]))).shape == [2, 12]


def test_turning_trainable_off_moves_weights_and_hides_updates() -> None:
    layer = layers.BatchNormalization()
    layer(tf.ones([2, 3]), training=True)
    assert len(layer.trainable_weights) == len(layer.updates) == len(layer.get_updates_for(True)) == 2
    layer.trainable = False
    assert layer.trainable_weights == layer.updates == layer.get_updates_for(None) == []
    assert [variable.op.name.rpartition("/")[2] for variable in layer.weights] == [
        "gamma",
        "beta",
        "moving_mean",
        "moving_variance",
    ]


def test_an_update_is_collected_once() -> None:
    layer = layers.Layer()
    update = tf.constant(1.0)
    layer.add_update([update, lambda: update])
    assert v1.get_collection(v1.GraphKeys.UPDATE_OPS) == [update.op]


def test_partitioned_weights_count_as_trainable() -> None:
    with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(2)):
        layer = layers.Dense(4)
        layer(tf.ones([2, 3]))
    assert [variable.name for variable in layer.trainable_weights][:2] == [
        "p/dense/kernel/part_0:0",
        "p/dense/kernel/part_1:0",
    ]
    assert layer.count_params() == 16


def test_keyword_training_is_for_layers_that_take_it() -> None:
    assert layers.Dense(2)(tf.ones([2, 3]), training=True).shape == [2, 2]
    with pytest.raises(TypeError, match="unexpected keyword argument 'mask'"):
        layers.Dense(2)(tf.ones([2, 3]), mask=None)


def call_eagerly() -> None:
    layer = layers.Dense(2, kernel_initializer=v1.ones_initializer(), kernel_regularizer="l1")
    output = layer(tf.ones([1, 3]))
    assert output.numpy().tolist() == layer(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
    assert output.kernel is layer.kernel
    assert layer.losses[0].numpy() == pytest.approx(0.06)
    assert layer.graph is None
    assert tf.function(layer)(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
    assert layer(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]


def test_layers_work_eagerly() -> None:
    with ThreadPoolExecutor(1) as thread:  # a new thread is in no graph
        thread.submit(call_eagerly).result()


def test_unknown_arguments_are_named() -> None:
    with pytest.raises(WrongType, match=r"Dense: unknown argument\(s\) unit, weigths\. Known beside .* _reuse"):
        layers.Dense(2, unit=3, weigths=None)
    assert layers.Dense(2, input_shape=(3,), autocast=True).units == 2


def test_inputs_must_be_there() -> None:
    with pytest.raises(WrongType, match=r"layer 'dense_1': inputs must be tensors, got None\. Check what"):
        layers.dense(None, 2)


def test_a_layer_stays_in_its_graph() -> None:
    layer = layers.Dense(2, name="mine")
    layer(tf.ones([2, 3]))
    with (
        tf.Graph().as_default(),
        pytest.raises(UsageError, match=r"layer 'mine': its variables belong to another graph .* Make a new layer"),
    ):
        layer(tf.ones([2, 3]))


def test_a_layer_without_variables_may_serve_many_graphs() -> None:
    layer = layers.Flatten()
    for _ in range(2):
        with tf.Graph().as_default():
            assert layer(tf.ones([2, 3, 4])).shape == [2, 12]


def test_questions_that_come_too_early() -> None:
    layer = layers.Dense(2, name="early")
    with pytest.raises(
        UsageError, match=r"layer 'early': scope_name is known once the layer was called.* Call the layer"
    ):
        _ = layer.scope_name
    with pytest.raises(UsageError, match=r"layer 'early': it has no parameters to count before it is built.*build\("):
        layer.count_params()


def test_an_own_layer_may_leave_its_output_shape_open() -> None:
    with pytest.raises(NotImplementedError, match=r"Late does not say which shape.*Override compute_output_shape"):
        Late().compute_output_shape([None, 3])


def test_an_average_over_replicas_cannot_be_trained() -> None:
    with pytest.raises(UsageError, match=r"layer 'own', variable 'v': .*ON_READ cannot be trainable.*trainable=False"):
        layers.Layer(name="own").add_weight(
            "v", [2], trainable=True, synchronization=tf.VariableSynchronization.ON_READ
        )
