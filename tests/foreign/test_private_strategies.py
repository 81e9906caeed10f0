"""Doors into strategies: what is said where a TensorFlow has none, and that a block is left as it was entered."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell.foreign import private_strategies


def test_a_strategy_without_the_switch_is_refused_before_anything_is_trained() -> None:
    with pytest.raises(NotImplementedError, match=r"TensorFlow .* has no switch .* Leave train_distribute out\."):
        private_strategies.mean_over_replicas(object())


def test_outside_of_strategies_a_variable_is_what_it_is() -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with tf.Graph().as_default(), strategy.scope():
        with private_strategies.outside_strategies():
            assert tf.distribute.get_strategy() is not strategy
        assert tf.distribute.get_strategy() is strategy


def test_one_device_has_started_no_server() -> None:
    assert not private_strategies.has_started_server(tf.distribute.OneDeviceStrategy("CPU:0"))
    assert not private_strategies.has_started_server(None)
