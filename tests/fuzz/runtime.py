"""What programs lean on beside TensorFlow: the state of one model while it is built, and data. Its source is copied.

Everything here runs on TensorFlow 2.15.1 with `tf.estimator` and on today's with Lightwell.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


class At:
    """Where a model stands while `model_fn` builds it."""

    def __init__(self, lab: Any, features: Any, labels: Any, mode: str, params: Any) -> None:
        self.lab, self.mode, self.params = lab, mode, params
        self.labels = labels["y"] if isinstance(labels, dict) else labels
        self.features = features if isinstance(features, dict) else {"x": features}
        self.training = mode == "train"
        self.names: dict[str, int] = {}
        self.before_step: list[Any] = []  # ops that a training step also runs
        self.after_step: list[Any] = []  # functions that make such ops, run after the weights are updated
        self.losses: list[Any] = []
        self.scaffold: dict[str, Any] = {}
        self.predictions: dict[str, Any] = {}
        self.metrics: dict[str, Any] = {}

    def name(self, stem: str) -> str:
        self.names[stem] = self.names.get(stem, 0) + 1
        return f"{stem}_{self.names[stem]}"

    def init(self, seed: int, scale: float = 0.5) -> Any:
        """Initial weights that do not depend on the process."""
        return v1.random_uniform_initializer(-scale, scale, seed=seed)

    def own(self) -> Any:
        """A scaffold, where a block asks for one."""
        if not self.scaffold:
            return None
        given = {name: value for name, value in self.scaffold.items() if name == "init_fn"}
        if "max_to_keep" in self.scaffold:
            given["saver"] = v1.train.Saver(max_to_keep=self.scaffold["max_to_keep"], sharded=True)
        return v1.train.Scaffold(**given)

    def weights(self, stem: str, shape: Any, seed: int, **settings: Any) -> Any:
        return v1.get_variable(self.name(stem), shape, initializer=self.init(seed), **settings)


def arrays(rows: int, width: int, seed: int, extras: Any, classes: bool = False) -> Any:
    """Features and labels, the same wherever they are made."""
    random = np.random.RandomState(seed)
    x = random.uniform(-1, 1, [rows, width]).astype(np.float32)
    features = {"x": x}
    words = random.randint(0, 8, rows)
    if "ids" in extras:
        features["ids"] = random.randint(0, 6, rows).astype(np.int64)
    if "word" in extras:
        features["word"] = np.array([f"w{number}".encode() for number in words])
    if "seq" in extras:
        features["seq"] = random.uniform(-1, 1, [rows, 4, 2]).astype(np.float32)
        features["length"] = random.randint(1, 5, rows).astype(np.int32)
    if "bag" in extras:
        features["bag"] = random.randint(0, 6, [rows, 3]).astype(np.int64)
    y = (x.sum(1) + 0.3 * random.normal(size=rows)).astype(np.float32)
    return features, (y > 0).astype(np.int64) if classes else y


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def lay_out(lab: Any) -> None:
    """The files that parts read."""
    write(lab.path("vocabulary.txt"), "".join(f"w{number}\n" for number in range(5)))
    write(lab.path("number.txt"), "0.5")
    os.makedirs(lab.path("matched"), exist_ok=True)
    write(lab.path("matched/1.txt"), "1")
