"""Record what 50 Adam steps of an MLP and a CNN give in tf.estimator 2.15.1: numbers, files, events, and a model_dir.

Run from the project's root with an environment that holds tensorflow 2.15.1: `python -m tests.oracle.record_training`.
Writes training_*.json, training_*.npz, seeded_start.npz, and model_dir/ with resume.json and resume.npz beside it, into
tests/data/oracle-2.15.1/. The stored model_dir leaves out graph.pbtxt and the event files: large, and never read.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import tensorflow as tf
from tests.parity import model_dirs, models, recordings, scenes


def record_training(kind: str, scratch: Path) -> None:
    """The 50 steps, from weights that are stored with the result."""
    initial = models.initial_values(kind)
    scratch.mkdir()
    result = scenes.train_evaluate_predict(tf.estimator, kind, scratch, initial, watched=True)
    recordings.save_result(f"training_{kind}", tf.__version__, result, recordings.prefixed("initial", initial))


def record_model_dir(scratch: Path) -> None:
    """A model_dir with two checkpoints, and what resuming a copy of it gives."""
    trained, kept = scratch / "trained", recordings.FOLDER / "model_dir"
    est = tf.estimator.Estimator(
        models.classifier(tf.estimator, "mlp"),
        str(trained),
        tf.estimator.RunConfig(save_checkpoints_steps=15, keep_checkpoint_max=2),
        params={"initial": models.initial_values("mlp")},
    )
    est.train(models.input_fn("mlp", repeat=True), steps=30)
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(trained, kept, ignore=shutil.ignore_patterns("graph.pbtxt", "events.*"))
    copy = scratch / "copy"
    shutil.copytree(kept, copy)
    resumed = scenes.resume(tf.estimator, "mlp", copy)
    recordings.save_result("resume", tf.__version__, {**resumed, "files": model_dirs.files(copy)}, {})


def record_seeded_start(scratch: Path) -> None:
    """The weights that the graph seed draws, and the losses under its dropout masks."""
    config = tf.estimator.RunConfig(tf_random_seed=42, save_checkpoints_steps=100)
    losses = models.Losses()
    est = tf.estimator.Estimator(models.seeded(tf.estimator), str(scratch / "seeded"), config)
    est.train(models.input_fn("mlp", repeat=True), steps=3, hooks=[losses])
    first = str(scratch / "seeded" / "model.ckpt-0")
    start = {name: tf.train.load_variable(first, name) for name, _ in tf.train.list_variables(first)}
    recordings.save_arrays(
        "seeded_start", tf.__version__, {**recordings.prefixed("values", start), "losses": losses.seen}
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        record_training("mlp", Path(folder) / "mlp")
        record_training("cnn", Path(folder) / "cnn")
        record_model_dir(Path(folder))
        record_seeded_start(Path(folder))
