"""The copy of a step: what is copied, what stays outside, and that the copy runs once per round."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from lightwell.engine.fuse_copy import copy_step, lasts_between_steps, step_ops
from lightwell.keys import FUSED_SCOPE

v1 = tf.compat.v1


@pytest.fixture
def graph() -> tf.Graph:
    return tf.Graph()


def test_what_lasts_stays_outside(graph: tf.Graph) -> None:
    with graph.as_default():
        variable = v1.get_variable("variable", [2])
        iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(3))
        table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
        fed = v1.placeholder(tf.float32, [], "fed")
        default = v1.placeholder_with_default(tf.constant(1.0), [], "default")
        computed = v1.placeholder_with_default(fed * 2, [], "computed")
        small, big = tf.constant(1.0, name="small"), tf.constant([0.5] * 5000, name="big")
        batch = iterator.get_next()
        numbers = [table.lookup(batch), fed, default, computed, small, variable, tf.reduce_sum(big)]
        target = tf.add_n([tf.reduce_sum(number) for number in numbers], name="target")
    inside, outside = step_ops([target])
    assert {op.type for op in outside} >= {"VarHandleOp", "IteratorV2", "MutableHashTableV2"}
    assert {op.name for op in outside} >= {"fed", "default", "big"}
    assert {op.name for op in inside} >= {"small", "computed", "target", "IteratorGetNext"}
    assert not {op.name for op in inside} & {op.name for op in outside}


def test_an_op_that_makes_a_new_resource_each_step_is_copied(graph: tf.Graph) -> None:
    with graph.as_default():
        array = tf.raw_ops.TensorArrayV3(size=3, dtype=tf.float32)
    assert not lasts_between_steps(array.handle.op)


def test_copies_stand_together_and_forget_who_is_not_copied(graph: tf.Graph) -> None:
    with graph.as_default():
        variable = v1.get_variable("variable", [2])
        first = tf.identity(variable, name="first")
        with v1.colocate_with(first):
            second = tf.identity(first + 1, name="second")
        with v1.colocate_with(variable):
            third = tf.identity(second + 1, name="third")
    copy = copy_step(graph, [third])
    nodes = {node.name: node for node in copy._nodes.node}
    assert nodes[f"{FUSED_SCOPE}step/second"].attr["_class"].list.s == [f"loc:@{FUSED_SCOPE}step/first".encode()]
    assert "_class" not in nodes[f"{FUSED_SCOPE}step/third"].attr


def test_what_reads_only_from_outside_waits_for_the_round(graph: tf.Graph) -> None:
    with graph.as_default():
        iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(3))
        batch: Any = iterator.get_next()
        result = tf.add(batch, 1, name="result")
    copy = copy_step(graph, [result])
    nodes = {node.name: node for node in copy._nodes.node}
    pivot = f"^{FUSED_SCOPE}pivot"
    assert pivot in nodes[f"{FUSED_SCOPE}step/IteratorGetNext"].input
    assert pivot in nodes[f"{FUSED_SCOPE}step/result/y"].input
    assert pivot not in nodes[f"{FUSED_SCOPE}step/result"].input
