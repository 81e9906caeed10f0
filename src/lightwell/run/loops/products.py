"""Products of a backward pass, in the form that is computed fastest. Takes a graph that is not final, and changes it.

The gradient of `inputs @ weights` by `inputs` is a product with the weights transposed. For that TensorFlow's library
on CPUs, with several threads and from 16 rows on, takes up to four times as long as for its mirror image, the weights
times the other factor transposed. With a wide layer after convolutions it is the longest operation of a step.

They are the same sums; how a sum is cut into parts depends on the shapes and the number of threads, in either form, so
a last digit may differ as it does between machines. All steps of a program take the same form, whoever looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.run.devices.gpus import visible_gpus
from lightwell.run.loops.step_copy import step_ops, within_loops

_FEWEST_WEIGHTS = 2**18  # of fewer, turning the result costs what the product saves
_FEWEST_ROWS = 16


def mirror_products(graph: tf.Graph, targets: Sequence[Any]) -> None:
    """Computes the gradients by the inputs of wide layers by way of their mirror image.

    Args:
        graph: the graph, which must not be final.
        targets: the ops and tensors of a step.
    """
    if visible_gpus():  # where the products may run on one
        return
    ops = step_ops(targets)[0]
    slow = [op for op in ops if op.type == "MatMul" and _is_slow(op)]
    inside = within_loops(ops) if slow else frozenset()  # their ops can only be built where the loop is
    for op in slow:
        if op.name not in inside:
            _mirror(graph, op)


def _is_slow(op: tf.Operation) -> bool:
    rows, weights = (tensor.shape for tensor in op.inputs)
    return (
        op.get_attr("grad_a")
        and op.get_attr("transpose_b")
        and not op.get_attr("transpose_a")
        and op.inputs[1].dtype == tf.float32
        and (weights.num_elements() or 0) >= _FEWEST_WEIGHTS
        and (rows.rank is None or rows[0] is None or rows[0] >= _FEWEST_ROWS)
    )


def _mirror(graph: tf.Graph, op: tf.Operation) -> None:
    product = op.outputs[0]
    users = [
        (user, place)
        for user in product.consumers()
        for place, one in enumerate(user.inputs)
        if one.name == product.name
    ]
    gradient, weights = op.inputs
    with graph.as_default(), tf.name_scope(f"{op.name}/"), tf.device(op.device):
        with tf.control_dependencies(op.control_inputs):
            mirrored = tf.matmul(weights, gradient, transpose_b=True, name="mirrored")
        turned = tf.transpose(mirrored, name="turned")
    for user, place in users:
        private_tf.replace_input(user, place, turned)
