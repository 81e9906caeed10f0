"""Records model_dirs that TensorFlow trained with its own layers and cells, and how they train on.

Run from the repository's root, once with an environment that has tensorflow 1.15.5 (Python 3.7) and once with 2.15.1:

    python -m tests.oracle.record_resume

Writes `resume_<kind>_model_dir/`, `resume_<kind>.npz` and `resume_models.json` into `tests/data/oracle-<version>/`.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import tempfile
from typing import Any

import numpy as np
import tensorflow as tf
from tests.resume import models

TARGET = pathlib.Path(__file__).parents[1] / "data" / f"oracle-{tf.__version__}"
THEIRS = models.Library(tf.estimator, tf.compat.v1.layers, tf.compat.v1.nn.rnn_cell)
STEPS = 20


def record(kind: str) -> dict[str, Any]:
    target = TARGET / f"resume_{kind}_model_dir"
    with tempfile.TemporaryDirectory() as folder:
        models.train(THEIRS, kind, folder, steps=STEPS)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for name in (f"model.ckpt-{STEPS}.index", f"model.ckpt-{STEPS}.data-00000-of-00001"):
            shutil.copy(pathlib.Path(folder) / name, target)
        (target / "checkpoint").write_text(f'model_checkpoint_path: "model.ckpt-{STEPS}"\n')
        numbers, arrays = models.resume(THEIRS, kind, folder)
    np.savez_compressed(TARGET / f"resume_{kind}.npz", tensorflow=np.array(tf.__version__), **arrays)
    return numbers


def main() -> None:
    content = {"tensorflow": tf.__version__, **{kind: record(kind) for kind in models.KINDS}}
    (TARGET / "resume_models.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
