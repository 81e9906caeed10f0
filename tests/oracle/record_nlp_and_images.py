"""Record what the programs of tests/data/programs_nlp and programs_images print on their own TensorFlow.

Run from the project's root, with an environment of TensorFlow 1.15.5 (Python 3.7), then with one of 2.15.1:

    python -m tests.oracle.record_nlp_and_images [name ...]

Each writes nlp_and_images.json into its folder, tests/data/oracle-<version>/; with names, only those are recorded anew.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

import tensorflow as tf
from tests.oracle.record_revived import printed
from tests.programs.nlp_and_images import CASES, DATA, IMAGES, NLP

OUT = DATA / ("oracle-" + tf.__version__) / "nlp_and_images.json"


def save(programs):
    ordered = {case.name: programs[case.name] for case in CASES if case.name in programs}
    OUT.write_text(json.dumps({"tensorflow": tf.__version__, "programs": ordered}, indent=1) + "\n")


def main():
    asked = sys.argv[1:]
    programs = json.loads(OUT.read_text())["programs"] if asked and OUT.exists() else {}
    with tempfile.TemporaryDirectory() as place:
        for style in (NLP, IMAGES):
            shutil.copytree(str(DATA / style), str(Path(place) / style))
        for case in CASES:
            if case.original == tf.__version__ and (not asked or case.name in asked):
                os.chdir(str(Path(place) / case.style))
                try:
                    programs[case.name] = printed(case, Path.cwd())
                    print("recorded", case.name, flush=True)
                except Exception:
                    print("FAILED", case.name, flush=True)
                    traceback.print_exc()
                save(programs)


if __name__ == "__main__":
    main()
