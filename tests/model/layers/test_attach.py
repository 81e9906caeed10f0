"""An output knows its layer and stays an ordinary tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from lightwell import layers

v1 = tf.compat.v1


def test_a_dense_output_knows_kernel_bias_and_layer() -> None:
    output = layers.dense(tf.ones([2, 3]), 4, activation=tf.nn.relu, name="my_dense_layer")
    assert isinstance(output, tf.Tensor)
    assert output.kernel is v1.global_variables()[0]
    assert output.bias.name == "my_dense_layer/bias:0"
    assert output.layer.units == 4


def test_batch_normalization_and_separable_convolution_show_their_own_variables() -> None:
    normalised = layers.batch_normalization(tf.ones([2, 3]), training=True)
    assert [normalised.gamma.name, normalised.moving_mean.name] == [
        "batch_normalization/gamma:0",
        "batch_normalization/moving_mean:0",
    ]
    separated = layers.separable_conv2d(tf.ones([1, 4, 4, 2]), 3, 2)
    assert separated.pointwise_kernel.shape == [1, 1, 2, 3]
    assert not hasattr(separated, "kernel")


def test_the_attributes_survive_lookups_and_arithmetic(graph: Any) -> None:
    output = layers.dense(tf.ones([2, 3]), 4)
    assert graph.get_tensor_by_name("dense/BiasAdd:0").kernel is output.kernel
    assert graph.as_graph_element("dense/BiasAdd:0").layer is output.layer
    assert output.op.outputs[0].bias is output.bias
    doubled = output * 2.0
    assert not hasattr(doubled, "layer")
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        once, twice, kernel = session.run([output, doubled, output.kernel])
    np.testing.assert_allclose(twice, 2 * once)
    np.testing.assert_allclose(once, np.ones([2, 3]) @ kernel, rtol=1e-5)


def test_what_a_tensor_already_has_is_left_alone() -> None:
    class Shadowing(layers.Layer):
        def call(self, inputs: Any) -> Any:
            self.add_weight("shape", [3])
            self.add_weight("scale", [3])
            return inputs * 1.0

    output = Shadowing()(tf.ones([2, 3]))
    assert output.shape == [2, 3]
    assert output.scale.name == "shadowing/scale:0"


def test_a_layer_that_returns_its_input_does_not_claim_it() -> None:
    hidden = layers.dense(tf.ones([2, 3]), 4)
    assert layers.Layer()(hidden) is hidden
    assert hidden.layer.units == 4


def test_every_tensor_of_a_structure_is_marked() -> None:
    class Two(layers.Layer):
        def call(self, inputs: Any) -> Any:
            return {"a": inputs + 1.0, "b": [inputs + 2.0]}

    layer = Two()
    outputs = layer(tf.ones([2, 3]))
    assert outputs["a"].layer is outputs["b"][0].layer is layer
