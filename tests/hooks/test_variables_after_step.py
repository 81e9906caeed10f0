"""What stands for a variable in the fetches of a hook; `tests/data/revived/variables_in_hooks.py` sees the values."""

from __future__ import annotations

import tensorflow as tf

from lightwell.hooks.base import Late
from lightwell.hooks.variables_after_step import VariablesAfterStep, is_tensorflow_1


def test_variables_are_read_after_the_step_and_tensors_beside_it() -> None:
    with tf.Graph().as_default():
        variable, tensor = tf.compat.v1.get_variable("v", [2]), tf.constant(1)
        after = VariablesAfterStep()
        found = after.of({"a": variable, "b": [tensor, (variable, "name")]})
        late = found["a"]
        assert isinstance(late, Late)
        assert late.tensor is variable
        assert found == {"a": late, "b": [tensor, (late, "name")]}
        assert after.of(variable) is late
        assert after.of(None) is None


def test_a_program_of_tensorflow_2_is_none_of_1() -> None:
    assert not is_tensorflow_1()
