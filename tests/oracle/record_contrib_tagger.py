"""Records a model_dir that TensorFlow 1.15.5 trained with `tf.contrib.rnn`, `crf` and `opt`, and how it trains on.

Run from the repository's root with an environment that has tensorflow 1.15.5:

    python -m tests.oracle.record_contrib_tagger

Writes `contrib_tagger_model_dir/` and `contrib_tagger.json` into `tests/data/oracle-1.15.5/`.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import shutil
import tempfile

import tensorflow as tf
from tests.compat.contrib import same, tagger


def main() -> None:
    contrib = importlib.import_module("tensorflow.contrib")
    target = same.TARGET / "contrib_tagger_model_dir"
    with tempfile.TemporaryDirectory() as folder:
        config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=1)
        made = tf.estimator.Estimator(tagger.model_fn(contrib, tf.estimator), config=config)
        losses = tagger.Losses()
        made.train(tagger.input_fn, steps=tagger.FIRST, hooks=[losses])
        shutil.rmtree(str(target), ignore_errors=True)
        target.mkdir()
        for end in ("index", "data-00000-of-00001"):
            shutil.copy(str(pathlib.Path(folder) / f"model.ckpt-{tagger.FIRST}.{end}"), str(target))
        (target / "checkpoint").write_text(f'model_checkpoint_path: "model.ckpt-{tagger.FIRST}"\n')
        content = {
            "tensorflow": tf.__version__,
            "first_losses": losses.values,
            "variables": {name: list(shape) for name, shape in tf.train.list_variables(folder)},
            **tagger.gone_on(made),
        }
    (same.TARGET / "contrib_tagger.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
