"""`tf.contrib.opt`: slots, losses and weights over some steps as TensorFlow 1.15.5 gave them."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from tests.compat.contrib import opt_cases, same

from lightwell import tf1

v1 = tf.compat.v1
opt = tf1.contrib.opt
RECORDED = same.recorded("opt")["cases"]


@pytest.mark.parametrize("name", sorted(opt_cases.CASES))
def test_as_recorded(name: str) -> None:
    same.assert_same(same.outcome(opt_cases.CASES[name], tf1.contrib), RECORDED[name], name)


def test_a_saver_puts_averages_in_the_place_of_variables(tmp_path: Path) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
        optimizer = opt.MovingAverageOptimizer(v1.train.GradientDescentOptimizer(0.5), average_decay=0.5)
        with pytest.raises(
            ValueError, match="Must call apply_gradients or minimize before creating the swapping_saver"
        ):
            optimizer.swapping_saver()
        train_op = optimizer.minimize(weight * 1.0)
        saver = optimizer.swapping_saver()
        with pytest.raises(ValueError, match="outside of var_list"):
            optimizer.swapping_saver([weight])
        session.run(v1.global_variables_initializer())
        session.run(train_op)
        path = saver.save(session, str(tmp_path / "model"))
    assert tf.train.load_variable(path, "w") == 0.75
    assert tf.train.load_variable(path, "w/ExponentialMovingAverage") == 0.5


def test_refused() -> None:
    with pytest.raises(ValueError, match="momentum should be positive: -1"):
        opt.LARSOptimizer(0.1, momentum=-1)
    with pytest.raises(ValueError, match="weight_decay should be positive: -1"):
        opt.LARSOptimizer(0.1, weight_decay=-1)
    with pytest.raises(AttributeError, match=r"ScipyOptimizerInterface is gone: .* scipy\.optimize\.minimize"):
        opt.ScipyOptimizerInterface(1)


def test_a_list_for_minimize_is_without_effect_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default():
        weight = v1.get_variable("w", [])
        opt.AdamWOptimizer(0.1).minimize(weight * 1.0, decay_var_list=[weight])
    assert "decay_var_list is without effect, as in TensorFlow 1.15" in caplog.text


# Three steps with gradients equal to the weights, dense and for one row, of a reference variable on TensorFlow 1.15.5.
OF_REFERENCES = {
    "adamw": ([0.458, 1.187, 1.916, 2.645], [1.0, 2.0, 1.916, 2.645]),
    "momw": ([0.206, 0.412, 0.618, 0.824], [1.0, 2.0, 1.664, 1.87]),
    "nadam": ([0.5405, 1.5405, 2.5405, 3.5405], [1.0, 2.0, 2.5405, 3.5405]),
    "adamax": ([0.7, 1.7, 2.7, 3.7], [1.0, 2.0, 2.7, 3.7]),
    "lazy": ([0.7, 1.7, 2.7, 3.7], [1.0, 2.0, 2.7, 3.7]),
    "lars": ([0.9994, 1.9989, 2.9983, 3.9978], [1.0, 2.0, 2.439, 2.878]),
    "add": ([0.4, 0.8, 1.2, 1.6], [1.0, 2.0, 2.4, 2.8]),
    "power": ([0.1845, 0.369, 0.5535, 0.7381], [1.0, 2.0, 2.1845, 2.369]),
}
MAKES = {
    "adamw": lambda: opt.AdamWOptimizer(0.1, learning_rate=0.1),
    "momw": lambda: opt.MomentumWOptimizer(0.1, 0.1, 0.9),
    "nadam": lambda: opt.NadamOptimizer(0.1),
    "adamax": lambda: opt.AdaMaxOptimizer(0.1),
    "lazy": lambda: opt.LazyAdamOptimizer(0.1),
    "lars": lambda: opt.LARSOptimizer(0.1),
    "add": lambda: opt.AddSignOptimizer(0.1),
    "power": lambda: opt.PowerSignOptimizer(0.1),
}


@pytest.mark.parametrize("name", OF_REFERENCES)
def test_variables_that_are_no_resources_move_as_others(name: str) -> None:
    dense = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for use_resource in (False, True):
        for sparse, recorded in zip((False, True), OF_REFERENCES[name], strict=True):
            with tf.Graph().as_default(), v1.Session() as session:
                weight = v1.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
                rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([2, 2]))
                train_op = MAKES[name]().apply_gradients([(rows if sparse else dense.numpy(), weight)])
                session.run(v1.global_variables_initializer())
                for _ in range(3):
                    session.run(train_op)
                assert session.run(weight).ravel() == pytest.approx(recorded, abs=1e-4)


@pytest.mark.parametrize("use_resource", [False, True])
def test_nadam_moves_no_row_without_a_gradient(use_resource: bool) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        table = v1.get_variable("t", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
        row, values = v1.placeholder(tf.int64, [1]), v1.placeholder(tf.float32, [1, 2])
        optimizer = opt.NadamOptimizer(0.1)
        train_op = optimizer.apply_gradients([(tf.IndexedSlices(values, row, tf.constant([2, 2])), table)])
        session.run(v1.global_variables_initializer())
        for number, gradient in ((0, [1.0, 2.0]), (1, [1.0, 2.0]), (0, [0.5, -1.0])):
            session.run(train_op, {row: [number], values: [gradient]})
        # As TensorFlow 1.15.5 gave it.
        recorded = [0.713991, 1.822637, 2.858614, 3.858614]
        assert session.run(table).ravel() == pytest.approx(recorded, abs=1e-5)
