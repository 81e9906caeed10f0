"""Record what the programs of tests/data/programs_* print on the TensorFlow that they were written for.

Run from the project's root with an environment that holds TensorFlow 1.15.5 (Python 3.7), and again with one that holds
2.15.1; each runs its own programs, each of them in a fork and an empty folder of its own:

    python -m tests.oracle.record_styles [style/name ...]

Writes styles.json into tests/data/oracle-1.15.5/ or oracle-2.15.1/; with names, only those are recorded anew.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

import tensorflow as tf
from tests.oracle.record_revived import run
from tests.programs.styles import DATA, PROGRAMS

OUT = DATA / ("oracle-" + tf.__version__) / "styles.json"


def run_in_fork(file, folder):
    """Runs a program in a process that has imported TensorFlow and used nothing of it; stdout goes to a file there."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 1
    try:
        os.chdir(folder)
        sys.path[0] = folder
        os.dup2(os.open("stdout.txt", os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(os.open("stderr.txt", os.O_WRONLY | os.O_CREAT), 2)
        try:
            run([file])
        except SystemExit as leaving:
            code = leaving.code or 0
        else:
            code = 0
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def printed(program):
    """The JSON on the program's last line."""
    with tempfile.TemporaryDirectory() as folder:
        status = run_in_fork(str(program.file), folder)
        out, err = (Path(folder) / name for name in ("stdout.txt", "stderr.txt"))
        if status:
            raise RuntimeError(err.read_text()[-3000:])
        return json.loads(out.read_text().splitlines()[-1])


def save(key, value):
    recorded = json.loads(OUT.read_text())["programs"] if OUT.exists() else {}
    recorded[key] = value
    ordered = {one.key: recorded[one.key] for one in PROGRAMS if one.key in recorded}
    OUT.write_text(json.dumps({"tensorflow": tf.__version__, "programs": ordered}, indent=1) + "\n")


def main():
    asked = sys.argv[1:]
    for program in PROGRAMS:
        if program.tensorflow == tf.__version__ and (not asked or program.key in asked):
            try:
                save(program.key, printed(program))
                print("recorded", program.key, flush=True)
            except Exception as error:
                print("FAILED", program.key, error, flush=True)


if __name__ == "__main__":
    main()
