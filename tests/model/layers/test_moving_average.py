"""Moving averages: the step, with the momentum known now or in the run."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell.model.layers.moving_average import move_towards

v1 = tf.compat.v1


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("as_tensor", [True, False])
def test_the_average_moves_by_what_momentum_leaves(use_resource: bool, as_tensor: bool) -> None:
    average = v1.get_variable("average", initializer=[10.0], use_resource=use_resource)
    momentum = tf.constant(0.75) if as_tensor else 0.75
    update = move_towards(average, tf.constant([2.0], tf.float64), momentum)
    assert update.op.name.startswith("AssignMovingAvg")
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(update.op)
        assert session.run(average).tolist() == [8.0]
