"""How a case of `tf.contrib` is run, here and in TensorFlow 1.15.5: the same lines over both.

A case is a function that takes `contrib` and gives tensors by name. Variables get values that follow from their names,
so that numbers depend on names and shapes alone. Python 3.7 reads this file too.
"""

from __future__ import annotations

import json
import pathlib
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
TARGET = pathlib.Path(__file__).parents[2] / "data" / "oracle-1.15.5"


def value_for(name: str, shape: Any) -> Any:
    """The value that a variable of this name gets."""
    return np.random.RandomState(zlib.crc32(name.encode())).uniform(-0.7, 0.7, shape).astype(np.float32)


def inputs(*shape: int, seed: int = 0) -> Any:
    """Numbers that look like data."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)


def constant_of(value: Any) -> Any:
    """The number that all entries of an initial value are; None where they differ."""
    flat = np.unique(np.asarray(value))
    return float(flat[0]) if flat.size == 1 and flat.dtype.kind in "fiu" else None


def outcome(case: Callable[[Any], Any], contrib: Any) -> dict[str, Any]:
    """What a case gives: its variables (shape, constant first value), and every tensor's value.

    A value may be a list of tensors that are run in turn: the steps of a training.
    """
    with tf.Graph().as_default():
        v1.set_random_seed(1)
        tensors = case(contrib)
        variables = v1.global_variables()
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
            first = session.run([tf.convert_to_tensor(one) for one in variables])
            floats = [one for one in v1.trainable_variables() if one.dtype.base_dtype == tf.float32]
            fed = {one.initializer.inputs[1]: value_for(one.op.name, one.shape.as_list()) for one in floats}
            session.run([one.initializer for one in floats], fed)
            values = {}
            for name, wanted in tensors.items():
                if isinstance(wanted, list):
                    values[name] = [plain(session.run(one)) for one in wanted]
                else:
                    values[name] = plain(session.run(wanted))
        pairs = zip(variables, first)  # noqa: B905
        return {
            "variables": {one.op.name: [one.shape.as_list(), constant_of(value)] for one, value in pairs},
            "values": values,
        }


def plain(value: Any) -> Any:
    """A value as JSON keeps it."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in sorted(value.items())}
    if isinstance(value, (list, tuple)) or type(value).__name__ == "SparseTensorValue":
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def recorded(namespace: str) -> Any:
    """What TensorFlow 1.15.5 gave for the cases of a namespace."""
    return json.loads((TARGET / "contrib" / f"{namespace}.json").read_text())


def assert_same(ours: Any, theirs: Any, where: str, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Compares two values as JSON keeps them, numbers nearly."""
    if isinstance(theirs, dict):
        assert isinstance(ours, dict), where
        assert sorted(ours) == sorted(theirs), where
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}/{key}", rtol, atol)
    elif isinstance(theirs, list) and not _is_array_of_numbers(theirs):
        assert isinstance(ours, list), where
        assert len(ours) == len(theirs), where
        for index, (one, other) in enumerate(zip(ours, theirs)):  # noqa: B905
            assert_same(one, other, f"{where}/{index}", rtol, atol)
    elif isinstance(theirs, (list, float)) and not isinstance(theirs, bool):
        np.testing.assert_allclose(np.asarray(ours, np.float64), theirs, rtol=rtol, atol=atol, err_msg=where)
    else:
        assert ours == theirs, where


def _is_array_of_numbers(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind == "f"
    except ValueError:  # ragged
        return False
