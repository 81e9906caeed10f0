"""Records boosted trees of TensorFlow 2.8.4 and 1.15.5, the last of each line with kernels for them.

Run from the root of the project, with an environment of either: `python -m tests.oracle.record_boosted_trees`. Writes
`boosted_trees.json` into `tests/data/oracle-<version>/`, the numbers of each case of `forests.py`;
beside it `boosted_trees_model_dir/`, a training of "binary" that stopped halfway, and among the numbers how that went
on.

    python -m tests.oracle.record_boosted_trees CASE MODEL_DIR OUT

trains a case on in a model_dir that exists, and writes its numbers into the file OUT.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.estimator.canned import forests

TARGET = Path(__file__).resolve().parents[1] / "data" / f"oracle-{tf.__version__}"
RESUMED = "binary"


def main() -> None:
    found: dict[str, Any] = {"tensorflow": tf.__version__, "cases": {}}
    names = [name for name in forests.CASES if tf.__version__ >= "2" or name not in forests.NOT_IN_1]
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(names):
            model_dir = str(Path(folder) / str(number))
            found["cases"][name] = forests.measured(tf.estimator, name, model_dir)
            found["cases"][name]["summaries"] = sorted(forests.summaries(model_dir))
        half = Path(folder) / "half"
        forests.trained_in_part(tf.estimator, RESUMED, str(half))
        target = TARGET / "boosted_trees_model_dir"
        shutil.rmtree(str(target), ignore_errors=True)
        target.mkdir(parents=True)
        name = f"model.ckpt-{forests.STOPPED_AFTER}"
        for file in (f"{name}.index", f"{name}.data-00000-of-00001"):
            shutil.copy(str(half / file), str(target))
        (target / "checkpoint").write_text(f'model_checkpoint_path: "{name}"\n')
        found["resumed"] = forests.trained_on(tf.estimator, RESUMED, str(half))
    (TARGET / "boosted_trees.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        case, model_dir, out = sys.argv[1:]
        Path(out).write_text(json.dumps(forests.trained_on(tf.estimator, case, model_dir)))
    else:
        main()
