"""A model over time: trained, evaluated on the way, stopped when it no longer gets better, exported, and served.

python examples/train_evaluate_export.py [MODEL_DIR]
"""

from __future__ import annotations

import functools
import sys
import tempfile
from typing import Any

import digits
import numpy as np
import tensorflow as tf

import lightwell as lw


def serving_input_receiver_fn() -> lw.estimator.export.ServingInputReceiver:
    """What a server is sent: images of 8 x 8 pixels, any number of them."""
    images = tf.compat.v1.placeholder(tf.float32, [None, 8, 8], name="images")
    return lw.estimator.export.ServingInputReceiver({"x": images}, {"images": images})


def serve(folder: str, images: Any) -> dict[str, Any]:
    """Predictions of an exported model, as a program without Lightwell makes them."""
    loaded = tf.saved_model.load(folder)
    answer = loaded.signatures["serving_default"](images=tf.constant(images))
    return {name: value.numpy() for name, value in answer.items()}


def main(model_dir: str, max_steps: int = 3000) -> None:
    """Runs it."""
    train, test = digits.load()
    config = lw.RunConfig(model_dir, save_checkpoints_steps=100, tf_random_seed=1)
    est = lw.Estimator(digits.model_fn, config=config, params={"learning_rate": 2e-3})

    best = lw.BestExporter("best", serving_input_receiver_fn, exports_to_keep=2)
    result = lw.train_and_evaluate(
        est,
        lw.TrainSpec(functools.partial(digits.input_fn, train, "train"), max_steps=max_steps),
        lw.EvalSpec(functools.partial(digits.input_fn, test, "eval"), steps=None, exporters=best, every_steps=100),
        observers=[lw.EarlyStopping("accuracy", patience=5), lw.KeepBest("accuracy", k=2)],
    )
    print(f"training:  {result.stopped}")
    print(f"best:      step {result.best('accuracy').global_step} of {result.global_step}")
    print(f"now:       accuracy {est.evaluate(functools.partial(digits.input_fn, test, 'eval'))['accuracy']:.4f}")

    folder = est.export_saved_model(f"{model_dir}/export/last", serving_input_receiver_fn).decode()
    served = serve(folder, test["x"][:100])
    print(f"served:    {np.mean(served['classes'] == test['y'][:100]):.2f} of 100 right, from a SavedModel")

    lite = est.export(to="tflite", path=f"{model_dir}/model.tflite", rows={"x": test["x"][:50]})
    print(f"tflite:    largest difference {lite.largest_difference:.1g} on 50 rows")

    model = est.to_keras()
    share = np.mean(model.predict({"x": test["x"]}, verbose=0)["classes"] == test["y"])
    print(f"keras:     accuracy {share:.4f} as a Keras model with {model.count_params():,} parameters")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
