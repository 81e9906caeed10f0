"""What the families of mistakes share: faces, graphs, values of another graph, how an exception is noted."""

from __future__ import annotations

import dis
import importlib
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.parity.spies import known_name

v1 = tf.compat.v1
Mistake = Callable[[Any, Path], Any]
NOTHING = "nothing"


def old(lib: Any) -> Any:
    """The names of TensorFlow 1 (`tf.compat.v1.estimator`) beside those that are `lib`."""
    return v1.estimator if hasattr(v1, "estimator") else _root(lib, ".compat.v1.estimator")


def model_to_estimator(lib: Any) -> Any:
    """What makes an Estimator of a Keras model."""
    return (tf.keras.estimator if hasattr(tf, "estimator") else _root(lib, "")).model_to_estimator


def _root(lib: Any, below: str) -> Any:
    """The package that a module of names belongs to, or a module in it."""
    return importlib.import_module(lib.__name__.partition(".")[0] + below)


def raised_by(mistake: Mistake, lib: Any, model_dir: Path) -> Exception | None:
    """The exception that the mistake raises, if any."""
    try:
        mistake(lib, model_dir)
    except Exception as error:
        return error
    return None


def in_graph(make: Callable[[Any], Any]) -> Mistake:
    """`make(lib)` in a graph of its own."""

    def run(lib: Any, model_dir: Path) -> None:
        with tf.Graph().as_default():
            v1.train.create_global_step()
            make(lib)

    return run


def alien() -> Any:
    """A tensor of another graph."""
    with tf.Graph().as_default():
        return tf.constant(1.0)


def of(value: Any) -> Any:
    """A value, or what it gives when it is a plain function: tensors are made in the graph of the call."""
    return value() if isinstance(value, types.FunctionType) else value


def data(features: Any = None, labels: Any = None) -> Callable[[], Any]:
    """An `input_fn` of one small batch that is given again and again."""
    features = {"x": np.ones([4, 2], np.float32)} if features is None else features

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(features if labels is None else (features, labels)).repeat()

    return input_fn


def noted(error: Exception | None) -> dict[str, Any]:
    """An exception as the recordings hold it: how it is caught, what it says, and whether somebody wrote that text."""
    if error is None:
        return {"type": NOTHING}
    return {"type": known_name(error), "written": _is_written(error), "message": reproducible(str(error))}


def reproducible(text: str) -> str:
    """A message without addresses, folders and the traces of graphs, which differ from run to run."""
    text = re.sub(r"\n\nDetected at node .*?\n(?! )", "\n", text, flags=re.DOTALL)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x…", text)
    text = re.sub(r"(/[\w.\-]+){2,}", "/…", text)
    return text.split("\n\nOriginal stack trace")[0][:600]


def _is_written(error: Exception) -> bool:
    """Whether a `raise` of tf.estimator's stands at the bottom of its traceback: its text is meant for a user."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    if not trace.tb_frame.f_globals.get("__name__", "").startswith("tensorflow_estimator"):
        return False
    at = {step.offset: step.opname for step in dis.get_instructions(trace.tb_frame.f_code)}
    return at.get(trace.tb_lasti) in ("RAISE_VARARGS", "RERAISE")
