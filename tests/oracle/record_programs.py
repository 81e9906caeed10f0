"""Records what the programs of `tests/data/programs` print on the TensorFlow they were written for.

Run from the repository's root, once with an environment that has tensorflow 1.15.5 (Python 3.7) and once with 2.15.1:

    python -m tests.oracle.record_programs

Writes `programs.json` into `tests/data/oracle-<version>/`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import tensorflow as tf
from tests.programs.cases import CASES, Case

DATA = Path(__file__).parents[1] / "data"


def printed(case: Case, folder: str) -> object:
    """The JSON on the program's last line."""
    words = [sys.executable, str(case.file)] + case.command_line(os.path.join(folder, "model"))  # noqa: RUF005
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, cwd=folder)
    return json.loads(done.stdout.decode().splitlines()[-1])


def main() -> None:
    found = {}
    for case in CASES:
        if case.runs_on == tf.__version__:
            with tempfile.TemporaryDirectory() as folder:
                found[case.name] = printed(case, folder)
    target = DATA / f"oracle-{tf.__version__}" / "programs.json"
    target.write_text(json.dumps({"tensorflow": tf.__version__, "programs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
