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
