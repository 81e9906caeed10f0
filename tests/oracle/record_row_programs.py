"""Record what the programs of tests/data/row_programs print with tf.estimator 2.15.1.

Run from the root of the project with an environment of tensorflow 2.15.1 and pandas:
`python -m tests.oracle.record_row_programs`. Writes row_programs.json into tests/data/oracle-2.15.1/.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.parity import recordings
from tests.programs.row_programs import NOT_RECORDED, PROGRAMS, arguments, for_tensorflow_2


def printed(program: Path, folder: Path) -> Any:
    script = folder / program.name
    script.write_text(for_tensorflow_2(program))
    command = [sys.executable, str(script), *arguments(program, folder / program.stem)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        programs = {
            program.stem: printed(program, Path(place)) for program in PROGRAMS if program.stem not in NOT_RECORDED
        }
    recordings.save_json("row_programs", tf.__version__, {"programs": programs})
