"""Boosted trees: train, read the trees as data, see what each column contributes to one prediction."""

from __future__ import annotations

import sys
import tempfile

import numpy as np
import tensorflow as tf

import lightwell as lw

ROWS, BATCH = 400, 100


def passengers() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Who was rescued from a ship that never was: children, and women of the upper deck."""
    random = np.random.default_rng(0)
    age = random.uniform(1, 80, ROWS).astype(np.float32)
    deck, sex = random.choice(["upper", "lower"], ROWS), random.choice(["f", "m"], ROWS)
    rescued = (age < 14) | ((sex == "f") & (deck == "upper"))
    return {"age": age, "deck": deck, "sex": sex}, rescued.astype(np.int64)


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(passengers()).batch(BATCH)


def main(model_dir: str, n_trees: int = 20) -> None:
    def words(key: str, *known: str) -> object:
        made = tf.feature_column
        return made.indicator_column(made.categorical_column_with_vocabulary_list(key, known))

    columns = [tf.feature_column.numeric_column("age"), words("deck", "upper", "lower"), words("sex", "f", "m")]
    est = lw.BoostedTreesClassifier(
        columns, ROWS // BATCH, model_dir, n_trees=n_trees, max_depth=3, learning_rate=0.3, center_bias=True
    )
    est.train(lambda: input_fn().repeat())  # ends by itself
    print(f"accuracy: {est.evaluate(input_fn)['accuracy']:.3f}")
    print(f"{est.trees.summary()}; the first:")
    print(est.trees[0])
    for column, share in est.experimental_feature_importances(normalize=True).items():
        print(f"importance of {column}: {share:.2f}")
    row = next(est.experimental_predict_with_explanations(input_fn))
    parts = " ".join(f"{value:+.2f} ({column})" for column, value in row["dfc"].items())
    print(f"the first passenger: {row['logistic'][0]:.2f} = {row['bias']:.2f} {parts}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
