"""Runs that fail in the middle: what came before the error, and which error it is. The same code for both sides.

`SCENES` maps a name to a function of (estimator module, model_dir) that gives plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity import draw_scenes
from tests.parity.spies import known_name

v1 = tf.compat.v1
Scene = Callable[[Any, Path], Any]
SCENES: dict[str, Scene] = {}
ROWS, BATCH = 2048, 4
Check = Callable[[Any], Any]


def _asserting(limit: int) -> Check:
    """An assertion that holds up to a row."""

    def check(x: Any) -> Any:
        with tf.control_dependencies([v1.assert_less(x, np.float32(limit))]):
            return tf.identity(x)

    return check


def _in_python(limit: int) -> Check:
    """A function of Python's that raises at a row."""

    def look(x: Any) -> Any:
        if x.max() >= limit:
            raise ValueError("too large")
        return x

    return lambda x: tf.ensure_shape(tf.numpy_function(look, [x], tf.float32), x.shape)


def _model(lib: Any, check: Check) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        scale = v1.get_variable("scale", [], initializer=v1.ones_initializer())
        output = check(features["x"]) * scale
        if mode == lib.ModeKeys.PREDICT:
            return lib.EstimatorSpec(mode, predictions={"output": output})
        loss = tf.reduce_mean(output)
        train_op = v1.train.GradientDescentOptimizer(1e-4).minimize(loss, v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def _rows(check: Check = lambda x: x) -> Callable[[], Any]:
    x = np.arange(ROWS, dtype=np.float32)
    return lambda: tf.data.Dataset.from_tensor_slices({"x": x}).batch(BATCH).map(lambda f: {"x": check(f["x"])})


def _outcome(run: Callable[[], Any]) -> str:
    try:
        run()
    except Exception as error:
        return known_name(error)
    return "returned"


def _predicts(name: str, model_check: Check, input_check: Check = lambda x: x, **options: Any) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        est, given = draw_scenes.estimator(lib, model_dir, _model(lib, model_check)), []
        est.train(lambda: {"x": tf.zeros([BATCH])}, steps=1)
        outcome = _outcome(lambda: given.extend(est.predict(_rows(input_check), **options)))
        last = [float(value) for value in np.ravel(given[-1]["output"])] if given else None
        return {"items": len(given), "last": last, "outcome": outcome}

    SCENES[f"predict: {name}"] = run


_predicts("the model fails at row 1500", _asserting(1500))
_predicts("the model fails at row 1500, by batches", _asserting(1500), yield_single_examples=False)
_predicts("a Python function of the model fails at row 1500", _in_python(1500))
_predicts("the input fails at row 1500", lambda x: x, _asserting(1500))
_predicts("the model fails at the first row of all but zeros", _asserting(1))
_predicts("the model fails in the last batch", _asserting(ROWS - 1))


def _fails_in(verb: str, check: Check) -> None:
    def run(lib: Any, model_dir: Path) -> Any:
        est = draw_scenes.estimator(lib, model_dir, _model(lib, check), save_checkpoints_steps=100)
        outcome = _outcome(lambda: getattr(est, verb)(_rows()))
        return {"outcome": outcome, "checkpoints": sorted(path.stem for path in model_dir.glob("*.index"))}

    SCENES[f"{verb}: the model fails at row 1500"] = run


for _verb in ("train", "evaluate"):
    _fails_in(_verb, _asserting(1500))
