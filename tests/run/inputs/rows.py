"""What the tests of `numpy_input_fn` and `pandas_input_fn` share: rows that an Estimator gives back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1


class Echo:
    """A model that predicts its features, and keeps the graph it was called in."""

    graph: Any = None

    def __call__(self, features: Any, mode: str) -> Any:
        self.graph = v1.get_default_graph()
        v1.get_variable("scale", [], initializer=tf.ones_initializer())
        return lw.EstimatorSpec(mode, predictions=features)

    @property
    def bytes_in_graph(self) -> int:
        return int(self.graph.as_graph_def().ByteSize())


def predicted(folder: Path, input_fn: Any, model: Any = None, **config: Any) -> list[Any]:
    """The batches that an Estimator's `predict` makes of an input."""
    est = lw.Estimator(model or Echo(), folder, lw.RunConfig(**config))
    return list(est.predict(input_fn, yield_single_examples=False))


def read(input_fn: Any, seed: int | None = None, most: int = 100) -> list[Any]:
    """The batches of an input in a graph of one's own, in a plain session."""
    with tf.Graph().as_default():
        if seed is not None:
            v1.set_random_seed(seed)
        tensors, found = input_fn(), []
        with v1.Session() as session:
            try:
                while len(found) < most:
                    found.append(session.run(tensors))
            except tf.errors.OutOfRangeError:
                pass
    return found


def numbers(batches: list[Any], key: str = "x") -> list[int]:
    """The rows of all batches, one after the other."""
    return [int(row) for batch in batches for row in batch[key]]
