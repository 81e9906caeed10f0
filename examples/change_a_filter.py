"""Find the filter that a digit depends on, take it out, see the metrics, keep that as a checkpoint, and train on.

`model_fn` is that of `digits.py` and knows nothing of this. Filters are tried on a copy of the model, so that its own
directory has only what is kept in the end.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import digits
import numpy as np

import lightwell as lw

DIGIT = 7


def estimator(model_dir: str) -> lw.Estimator:
    return lw.Estimator(digits.model_fn, model_dir, lw.RunConfig(tf_random_seed=1), params={"learning_rate": 2e-3})


def main(model_dir: str, steps: int = 300, more_steps: int = 100) -> None:
    train, test = digits.load()
    of_digit = {"x": test["x"][test["y"] == DIGIT], "y": test["y"][test["y"] == DIGIT]}
    est = estimator(model_dir)
    est.train(lambda: digits.input_fn(train, lw.ModeKeys.TRAIN), steps=steps)

    def accuracy(model: lw.Estimator, data: dict[str, np.ndarray]) -> float:
        return float(model.evaluate(lambda: digits.input_fn(data, lw.ModeKeys.EVAL, 512))["accuracy"])

    def without(model: lw.Estimator, number: int) -> None:
        with model.edit(f"without filter {number}") as w:
            w.layers["conv2d"].kernel[..., number] = 0
            w.layers["conv2d"].bias[number] = 0

    with tempfile.TemporaryDirectory() as scratch:
        trial = estimator(str(shutil.copytree(est.model_dir, Path(scratch, "trial"))))
        left = []
        for number in range(est.layers["conv2d"].bias.size):
            without(trial, number)
            left.append(accuracy(trial, of_digit))
            trial.revert()
        trial.close()

    before, most = accuracy(est, of_digit), int(np.argmin(left))
    print(f"accuracy on the digit {DIGIT}: {before:.3f}; without filter")
    print("\n".join(f"  {number:2}  {one:.3f} {'#' * round(40 * one)}" for number, one in enumerate(left)))
    without(est, most)
    print(f"filter {most} out:  {accuracy(est, of_digit):.3f} on {DIGIT}s, {accuracy(est, test):.3f} on all digits")

    # Filters stay as they are; what comes after them learns to do without the missing one.
    est.train(lambda: digits.input_fn(train, lw.ModeKeys.TRAIN), steps=more_steps, freeze=["conv2d"])
    print(f"trained on:    {accuracy(est, of_digit):.3f} on {DIGIT}s, {accuracy(est, test):.3f} on all digits")
    print(f"filter {most} is", "still zero" if not est.layers["conv2d"].kernel[..., most].any() else "back")
    print(est.lineage())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
