"""Which op failed, and who made it: ops of hooks, of packages that are installed, of several errors at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.run.failures.failing import HOST, line_of, lookup, model

v1 = tf.compat.v1


def test_an_op_that_a_hook_made_is_told_by_the_hooks_line(tmp_path: Path) -> None:
    class Looks(v1.train.SessionRunHook):
        def begin(self) -> None:
            with tf.device(HOST):
                self.rows = tf.gather([1.0, 2.0], v1.get_default_graph().get_tensor_by_name("ten:0"), name="of_a_hook")

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(self.rows)

    def with_ten(x: Any) -> Any:
        return x + tf.cast(v1.placeholder_with_default(10, [], name="ten"), tf.float32)

    with pytest.raises(tf.errors.InvalidArgumentError) as told:
        tiny.estimator(tmp_path, model(with_ten)).train(tiny.data, [Looks()], steps=2)
    text = str(told.value)
    assert "= 10 is not in [0, 2)" in text.splitlines()[0]
    assert "The op 'of_a_hook' (GatherV2) failed in training, batch 1; made in hook here:" in text
    assert 'name="of_a_hook"' in text


def test_a_model_of_an_installed_package_is_told_by_its_own_line(tmp_path: Path) -> None:
    installed = Path(tf.__file__).parent.parent / "a_model_somebody_packaged.py"
    source = (
        "import tensorflow as tf\ndef lookup(x):\n  with tf.device('/cpu:0'):\n"
        "    return tf.gather([1.0, 2.0], tf.cast(x, tf.int32))\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(source, str(installed), "exec"), namespace)  # as if it were there

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return namespace["whole"](features, labels, mode)

    whole = "def whole(features, labels, mode):\n    return linear({'x': lookup(features['x'])}, labels, mode, {})\n"
    namespace["linear"] = tiny.linear
    exec(compile(whole, str(installed), "exec"), namespace)
    made = tiny.estimator(tmp_path, namespace["whole"])
    with pytest.raises(tf.errors.InvalidArgumentError) as told:
        made.train(tiny.data, steps=1)
    assert f'File "{installed}", line 4, in lookup' in str(told.value)
    with pytest.raises(tf.errors.InvalidArgumentError) as told:
        tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=1)
    assert f'File "{__file__}", line ' in str(told.value), "the user's own line, where there is one"


def test_of_several_errors_the_first_is_told(tmp_path: Path) -> None:
    def twice(x: Any) -> Any:
        with tf.device(HOST):
            return lookup(x) + tf.gather([1.0, 2.0, 3.0], tf.cast(x, tf.int32))

    with pytest.raises(tf.errors.InvalidArgumentError) as told:
        tiny.estimator(tmp_path, model(twice)).evaluate(tiny.once)
    text = str(told.value)
    assert text.startswith("indices[2] = 3 is not in [0, 3)")
    assert line_of("lookup") in text or "in twice\n    return lookup(x) + tf.gather([1.0" in text


def test_a_scope_around_the_gradients_hides_nothing(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        lengths = v1.placeholder_with_default([1.0] * 5, [None])
        with tf.name_scope("tower"):
            total = tf.add(features["x"], lengths, name="total")
        with tf.name_scope("optimizer"):
            slope = tf.gradients(total, features["x"], tf.ones_like(features["x"]))[0]
        return tiny.linear({"x": slope}, labels, mode, {})

    with pytest.raises(tf.errors.InvalidArgumentError) as told:
        tiny.estimator(tmp_path, model_fn).train(tiny.data, steps=1)
    assert "The gradient of 'tower/total' (AddV2), op 'optimizer/gradients/tower/total_grad/" in str(told.value)
    assert 'name="total")' in str(told.value)
    assert sys.exc_info() == (None, None, None)
