"""Records a model_dir that TensorFlow 1.15.5 trained with `tf.contrib.layers`, and how it trains on.

Run from the repository's root with an environment that has tensorflow 1.15.5 (Python 3.7):

    python -m tests.oracle.record_contrib_resume

Writes `contrib_model_dir/` and `contrib_resume.json` into `tests/data/oracle-1.15.5/`.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import tensorflow as tf
from tests.compat.contrib import image_model

TARGET = Path(__file__).parents[1] / "data" / f"oracle-{tf.__version__}"


def main() -> None:
    target = TARGET / "contrib_model_dir"
    with tempfile.TemporaryDirectory() as folder:
        made = image_model.estimator(tf, folder)
        made.train(lambda: image_model.batches(tf), steps=image_model.STEPS)
        shutil.rmtree(str(target), ignore_errors=True)
        target.mkdir()
        name = f"model.ckpt-{image_model.STEPS}"
        for file in (f"{name}.index", f"{name}.data-00000-of-00001"):
            shutil.copy(str(Path(folder) / file), str(target))
        (target / "checkpoint").write_text(f'model_checkpoint_path: "{name}"\n')
        told = image_model.train_on(tf, folder)
    (TARGET / "contrib_resume.json").write_text(json.dumps({"tensorflow": tf.__version__, **told}) + "\n")


if __name__ == "__main__":
    main()
