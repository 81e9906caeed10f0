"""The tour: train the digit CNN, look inside it while it learns and afterwards, and make a picture of what it sees.

    python examples/demo.py [MODEL_DIR]

Run by `make demo`. Trains for about ten seconds; a second run resumes where the first one stopped.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import digits
import matplotlib.pyplot as plt

import lightwell as lw

STEPS = 1500


def main(model_dir: str) -> None:
    train, test = digits.load()
    est = lw.Estimator(digits.model_fn, model_dir, params={"learning_rate": 1e-3})

    print("\nWhat the model is made of: est.describe(input_fn)\n")
    print(est.describe(lambda: digits.input_fn(train, "train")))

    print("\nTraining, with a watch on its layers and gradients every 100 steps\n")
    seen: list[tuple[int, Any, Any]] = []

    def look(step: Any) -> None:
        seen.append((step.global_step, step["layers/conv2d"], step["gradients/weights/conv2d/kernel"]))

    watch = lw.Watch(lw.stats("layers/conv2d", "gradients/weights/conv2d/kernel"), every=100, do=look)
    est.train(lambda: digits.input_fn(train, "train"), steps=STEPS, hooks=[watch])
    for step, layer, gradient in seen[:: max(1, len(seen) // 5)]:
        print(
            f"  step {step:>5}   conv2d: {layer.zeros:4.0%} silent, mean {layer.mean:.3f}   "
            f"|gradient| {gradient.norm:.4f}"
        )

    print("\nEvaluating, with statistics of every unit: evaluate(input_fn, taps=...)\n")
    result = est.evaluate(lambda: digits.input_fn(test, "eval"), taps=["layers/dense"])
    dead = int((result.taps["layers/dense"].zeros == 1).sum())
    print(
        f"  accuracy {result['accuracy']:.3f} on {len(test['y'])} digits it never saw; "
        f"{dead} of 64 dense units never fire"
    )

    print("\nPredicting, with the activations of each digit: predict(input_fn, taps=...)\n")
    rows = list(est.predict(lambda: digits.input_fn(test, "infer"), taps=["layers/conv2d"]))
    wrong = [i for i, row in enumerate(rows) if row["classes"] != test["y"][i]]
    print(f"  {len(rows)} rows, each with its (8, 8, 16) map of layers/conv2d; misread: {len(wrong)}")

    picture = Path(model_dir) / "inside.png"
    draw(picture, test, rows, wrong, est.layers["conv2d"].kernel, seen)
    print(f"\nA picture of the inside: {picture}")
    print(f"More:                    lightwell inspect {model_dir}")


def draw(
    path: Path, test: dict[str, np.ndarray], rows: list[Any], wrong: list[int], kernel: Any, seen: list[Any]
) -> None:
    """One figure: what the first layer sees in four digits, its filters, and how it learned."""
    chosen = [*wrong[:2], *(i for i in range(10) if i not in wrong)][:4]
    figure = plt.figure(figsize=(11, 7), layout="constrained")
    grid = figure.add_gridspec(5, 10)
    for line, i in enumerate(chosen):
        axes = figure.add_subplot(grid[line, 0])
        axes.imshow(test["x"][i], cmap="gray_r")
        said, true = int(rows[i]["classes"]), int(test["y"][i])
        axes.set_title(f"{true} read as {said}", fontsize=8, color="crimson" if said != true else "black")
        axes.axis("off")
        for channel in range(9):
            axes = figure.add_subplot(grid[line, channel + 1])
            axes.imshow(rows[i]["layers/conv2d"][:, :, channel], cmap="viridis")
            axes.axis("off")
            if line == 0:
                axes.set_title(f"channel {channel}", fontsize=7)
    for channel in range(5):
        axes = figure.add_subplot(grid[4, channel])
        axes.imshow(kernel[:, :, 0, channel], cmap="RdBu")
        axes.set_title(f"filter {channel}", fontsize=7)
        axes.axis("off")
    axes = figure.add_subplot(grid[4, 5:])
    if seen:
        axes.plot(
            [step for step, _, _ in seen], [gradient.norm for _, _, gradient in seen], label="|gradient| of conv2d"
        )
        axes.plot(
            [step for step, _, _ in seen], [layer.zeros for _, layer, _ in seen], label="share of zeros in conv2d"
        )
        axes.legend(fontsize=7)
        axes.set_xlabel("step", fontsize=7)
        axes.tick_params(labelsize=7)
    figure.suptitle("layers/conv2d, by its path: est.predict(input_fn, taps=['layers/conv2d'])", fontsize=10)
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "runs/demo")
