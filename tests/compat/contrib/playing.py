"""Plays one small program of `tf.contrib` and tells what came of it: numbers, variables, collections.

The same program is played by TensorFlow 1.15.5, by a recorder in `tests/oracle`, and by `lightwell.tf1`, in the tests.
A program is a function of `tf` that gives named tensors; what it names `train` is run a few times after the others were
read. All variables get numbers of their names first, so that what is compared does not hang on random draws.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

STEPS = 3
# What a program may say of itself, as attributes.
DRAWN = "keeps_its_draws"  # its variables keep what their initializers drew


def keeps_its_draws(program: Any) -> Any:
    """A program whose initializers are what is to be compared."""
    setattr(program, DRAWN, True)
    return program


def number_for(name: str, shape: Any) -> Any:
    """Numbers that depend on nothing but a variable's name and shape."""
    drawn = np.random.RandomState(zlib.crc32(name.encode()) % 2**31).normal(0.0, 0.5, shape)
    return np.abs(drawn) if name.endswith(("variance", "stddev")) else drawn


def play(tf: Any, program: Any) -> dict[str, Any]:
    """What a program does: see the keys of the result."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(11)
        tf.train.get_or_create_global_step()
        made = dict(program(tf))
        train = made.pop("train", None)
        variables = tf.global_variables()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        if not getattr(program, DRAWN, False):
            # Not the state of optimizers, which cannot be anything.
            for variable in [*tf.trainable_variables(), *tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)]:
                if variable.dtype.base_dtype == tf.float32:
                    variable.load(number_for(variable.op.name, variable.shape.as_list()), session)
        told: dict[str, Any] = {
            "variables": {one.op.name: one.shape.as_list() for one in variables},
            "trainable": [one.op.name for one in tf.trainable_variables()],
            "model": [one.op.name for one in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)],
            "updates": len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)),
            "summaries": sorted(one.op.name for one in tf.get_collection(tf.GraphKeys.SUMMARIES)),
            "own": {
                key: [one.op.name for one in graph.get_collection(key)]
                for key in sorted(map(str, graph.get_all_collection_keys()))
                if key.startswith("my_")
            },
            "ops": {key: value.op.name for key, value in made.items() if hasattr(value, "op")},
            "shapes": {key: _shape(value) for key, value in made.items()},
            "values": {key: _plain(value) for key, value in session.run(made).items()},
        }
        penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        told["penalties"] = [float(one) for one in session.run(list(penalties))]
        if train is not None:
            told["trained"] = [_plain(session.run(train)) for _ in range(STEPS)]
            told["after"] = {one.op.name: _plain(session.run(one)) for one in variables}
    return told


def _shape(value: Any) -> Any:
    shape = getattr(value, "shape", None)
    return None if shape is None or getattr(shape, "ndims", None) is None else shape.as_list()


def _plain(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return [one.decode() if isinstance(one, bytes) else str(one) for one in array.ravel()]
    return np.round(array.astype(np.float64), 7).tolist()
