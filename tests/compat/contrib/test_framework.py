"""`tf.contrib.framework`: variables found and filled, arguments in scopes, and small functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lightwell import tf1 as tf

framework, layers = tf.contrib.framework, tf.contrib.layers


def net() -> Any:
    hidden = layers.fully_connected(tf.ones([2, 3]), 4, scope="net/hidden")
    return layers.fully_connected(hidden, 2, scope="net/logits")


def names(variables: Any) -> list[str]:
    return [one.op.name for one in variables]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Weights of the net, all ones, but for the logits' biases, which are not there."""
    with tf.Graph().as_default(), tf.Session() as session:
        net()
        kept = [one for one in tf.global_variables() if one.op.name != "net/logits/biases"]
        session.run([tf.assign(one, tf.ones_like(one)) for one in kept])
        path = tmp_path_factory.mktemp("checkpoint") / "model.ckpt"
        return str(tf.train.Saver(kept).save(session, str(path)))


def test_variables_are_found() -> None:
    with tf.Graph().as_default():
        net()
        framework.create_global_step()
        framework.local_variable(1.0, name="local")
        every = ["net/hidden/weights", "net/hidden/biases", "net/logits/weights", "net/logits/biases"]
        assert names(framework.get_variables("net")) == names(framework.get_model_variables()) == every
        assert names(framework.get_trainable_variables(suffix="biases")) == every[1::2]
        assert names(framework.get_variables_by_suffix("hidden/weights")) == every[:1]
        assert names(framework.get_variables_by_name("weights", scope="net/logits")) == every[2:3]
        assert names(framework.get_variables_to_restore(exclude=["net/logits", "global_step"])) == every[:2]
        assert names(framework.get_variables_to_restore(include=["net/logits"])) == every[2:]
        assert names(framework.filter_variables(tf.global_variables(), ["logits"], ["biases"])) == every[2:3]
        assert names(framework.get_local_variables()) == ["local"]
        assert framework.get_unique_variable("net/hidden/biases").shape == [4]
        made = framework.model_variable("mine", [2], regularizer=layers.l1_regularizer(1.0), collections=["own"])
        assert tf.get_collection("own") == [made]
        assert made in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)


def test_variables_are_filled_from_a_checkpoint(checkpoint: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        net()
        tf.get_variable("rest", [2], initializer=tf.zeros_initializer())
        wanted = framework.get_variables_to_restore()
        with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[net/logits/biases\]"):
            framework.assign_from_checkpoint(checkpoint, wanted)
        assign, feed = framework.assign_from_checkpoint(checkpoint, wanted, ignore_missing_vars=True)
        restore = framework.assign_from_checkpoint_fn(checkpoint, wanted, ignore_missing_vars=True)
        values, given = framework.assign_from_values({"rest": np.array([5.0, 6.0])})
        session.run(tf.global_variables_initializer())
        session.run(assign, feed)
        assert session.run(framework.get_unique_variable("net/hidden/biases")).tolist() == [1.0] * 4
        session.run(tf.global_variables_initializer())
        restore(session)
        assert session.run(framework.get_unique_variable("net/hidden/biases")).tolist() == [1.0] * 4
        session.run(values, given)
        assert session.run(framework.get_unique_variable("rest")).tolist() == [5.0, 6.0]
        renamed = framework.assign_from_checkpoint_fn(checkpoint, {"net/hidden/biases": tf.get_variable("b", [4])})
        renamed(session)
        assert session.run(framework.get_unique_variable("b")).tolist() == [1.0] * 4


def test_an_estimator_starts_from_a_checkpoint(checkpoint: str, tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        out = net()
        init = framework.assign_from_checkpoint_fn(checkpoint, framework.get_variables("net/hidden"))
        scaffold = tf.train.Scaffold(init_fn=lambda _, session: init(session))
        loss = tf.reduce_mean(out)
        train = tf.train.GradientDescentOptimizer(0.0).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, scaffold=scaffold)

    model = tf.estimator.Estimator(model_fn, str(tmp_path))
    model.train(lambda: tf.data.Dataset.from_tensors({"x": [1.0]}), steps=1)
    assert model.get_variable_value("net/hidden/weights").tolist() == np.ones([3, 4]).tolist()


def test_functions_of_ones_own_take_arguments_of_scopes() -> None:
    @framework.add_arg_scope
    def block(inputs: Any, depth: int, rate: float = 1.0, name: str = "block") -> Any:
        return inputs, depth, rate, name

    with framework.arg_scope([block], rate=0.5):
        with framework.arg_scope([block, layers.conv2d], name="inner"):
            assert block(1, 2) == (1, 2, 0.5, "inner")
            assert block(1, 2, rate=3.0) == (1, 2, 3.0, "inner")
            assert len(framework.current_arg_scope()) == 2
        assert block(1, depth=2) == (1, 2, 0.5, "block")
    assert block(1, 2) == (1, 2, 1.0, "block")
    assert framework.has_arg_scope(block)
    assert framework.arg_scoped_arguments(block) == ("rate", "name")
    assert framework.current_arg_scope() == {}


def test_small_functions() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None], name="fed")
        assert framework.get_placeholders(graph) == [fed]
        checked = framework.with_shape([2], fed)
        alike = framework.with_same_shape(tf.ones([2]), fed)
        assert session.run([checked, alike], {fed: [1, 2]})[1].tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked, {fed: [1, 2, 3]})
        assert framework.smart_cond(True, lambda: 1, lambda: 2) == 1
        assert framework.smart_case([(tf.constant(False), lambda: 1)], default=lambda: 3) == 3
        with tf.name_scope("outer"):
            assert framework.get_name_scope() == "outer"
        assert framework.strip_name_scope("^a/b", "a") == "^b"
        assert framework.prepend_name_scope("loc:@b", "a") == "loc:@a/b"
        total = framework.reduce_sum_n([tf.ones([2]), tf.ones([3])])
        doubled = framework.py_func(
            lambda x, by: {"y": x * by}, [tf.ones([2])], {"by": np.float32(2)}, {"y": tf.float32}, {"y": [2]}
        )
        assert session.run([total, doubled["y"]])[0] == 5.0
        assert doubled["y"].shape == [2]
        left, right = framework.remove_squeezable_dimensions(tf.ones([3, 1]), tf.ones([3]))
        assert left.shape == right.shape == [3]
        assert framework.assert_or_get_global_step() is None
        assert framework.deprecated("2018", "Use the other.")(lambda: 4)() == 4
