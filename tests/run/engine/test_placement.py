"""Where ops stand: Lightwell adds none that would hold a model's variables on the CPU of a machine with a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw


class Placed(tf.compat.v1.train.SessionRunHook):
    """Ops with a device of their own that use a variable of the model. TensorFlow puts both in one place."""

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.variables = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        for op in session.graph.get_operations():
            used = [one.op for one in op.inputs if one.dtype == tf.resource and one.op.type == "VarHandleOp"]
            used = [one for one in used if not one.name.startswith("lightwell/")]
            self.variables += len(used)
            self.ops += [f"{op.name} on {op.device}" for _ in used if op.device]


@pytest.mark.parametrize("settings", [{}, {"fuse_steps": False}, {"jit_compile": True}])
def test_no_op_on_a_variable_is_put_on_a_device(settings: Any, tmp_path: Path) -> None:
    hook = Placed()
    made = lw.Estimator(tiny.linear, str(tmp_path), lw.RunConfig(**settings), params={})
    made.train(tiny.data, hooks=[hook], steps=4)
    made.evaluate(tiny.data, hooks=[hook], steps=2)
    assert hook.variables > 10
    assert hook.ops == []
