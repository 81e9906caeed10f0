"""A ready-made model, open: train a `DNNClassifier`, read its hidden layers, draw them.

python examples/ready_made.py [MODEL_DIR] [PICTURE]
"""

from __future__ import annotations

import functools
import sys
import tempfile
from typing import Any

import digits
import matplotlib
import numpy as np
import tensorflow as tf

import lightwell as lw

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HIDDEN = ["layers/dnn/hiddenlayer_0", "layers/dnn/hiddenlayer_1"]


def classifier(model_dir: str) -> lw.DNNClassifier:
    """64 pixels, two hidden layers, ten classes."""
    pixels = tf.feature_column.numeric_column("x", shape=[8, 8])
    config = lw.RunConfig(model_dir, tf_random_seed=1)
    return lw.DNNClassifier([64, 32], [pixels], n_classes=10, optimizer="Adam", config=config)


def by_digit(values: Any, labels: Any) -> Any:
    """The mean of each unit over the examples of each digit."""
    return np.stack([values[labels == digit].mean(axis=0) for digit in range(10)])


def flat(values: Any, labels: Any) -> Any:
    """Values of all examples in the plane in which the means of the digits differ most."""
    means = by_digit(values, labels)
    _, _, axes = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
    return values @ axes[:2].T


def draw(rows: list[Any], test: dict[str, Any], picture: str) -> None:
    """Which digits each unit of the last hidden layer answers to; and what each layer makes of the digits."""
    labels, layers = test["y"], {path: np.stack([row[path] for row in rows]) for path in HIDDEN}
    figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), width_ratios=[1.5, 1, 1, 1], layout="constrained")
    answers = by_digit(layers[HIDDEN[1]], labels)
    answers = answers[:, answers.max(axis=0) > 0]  # some units are silent
    answers = answers[:, np.argsort(answers.argmax(axis=0), kind="stable")]
    answers = answers / answers.max(axis=0)
    axes[0].imshow(answers, aspect="auto", cmap="magma")
    axes[0].set(title=HIDDEN[1], xlabel="unit, by the digit it answers to most", ylabel="digit", yticks=range(10))
    points = {"features/x": test["x"].reshape(len(rows), -1), **layers}
    for panel, (path, values) in zip(axes[1:], points.items(), strict=True):
        panel.scatter(*flat(values, labels).T, c=labels, cmap="tab10", s=5)
        panel.set(title=path, xticks=[], yticks=[])
    figure.savefig(picture, dpi=72)


def main(model_dir: str, picture: str, steps: int = 1000) -> None:
    train, test = digits.load()
    est = classifier(model_dir)
    est.train(functools.partial(digits.input_fn, train, "train"), steps=steps)
    test_fn = functools.partial(digits.input_fn, test, "eval")
    print(f"accuracy {est.evaluate(test_fn)['accuracy']:.3f}")
    draw(list(est.predict(test_fn, taps=HIDDEN)), test, picture)
    print(f"drawn: {picture}")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(given[0] if given else tempfile.mkdtemp(), given[1] if len(given) > 1 else "hidden.png")
