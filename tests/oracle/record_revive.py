"""Records the model_dir that `docs/revive-an-old-program.md` resumes, and what the old TensorFlow made of it.

Run from the repository's root with an environment that has tensorflow 1.15.5 (Python 3.7):

    python -m tests.oracle.record_revive

Writes `revive_model_dir/` and `revive.json` into `tests/data/oracle-1.15.5/`.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tensorflow as tf
from tests.docs import page

TARGET = Path(__file__).parents[1] / "data" / f"oracle-{tf.__version__}"


def run(folder: Path) -> dict[str, float]:
    """What the page's program prints in its end."""
    words = [sys.executable, "train.py", "--model_dir", "model"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, cwd=str(folder))
    printed: dict[str, float] = ast.literal_eval(done.stdout.decode().splitlines()[-1].partition(": ")[2])
    return printed


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(page.read("revive-an-old-program.md").file("train.py"))
        first = run(folder)
        target = TARGET / "revive_model_dir"
        shutil.rmtree(str(target), ignore_errors=True)
        target.mkdir()
        for file in ("model.ckpt-20.index", "model.ckpt-20.data-00000-of-00001"):
            shutil.copy(str(folder / "model" / file), str(target))
        (target / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-20"\n')
        content = {"tensorflow": tf.__version__, "first": first, "second": run(folder)}
    (TARGET / "revive.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
