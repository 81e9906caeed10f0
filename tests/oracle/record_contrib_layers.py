"""Records what `tf.contrib.layers` and its neighbours did in TensorFlow 1.15.5.

Run from the repository's root with an environment that has tensorflow 1.15.5 (Python 3.7):

    python -m tests.oracle.record_contrib_layers

Writes `contrib_<group>.json` into `tests/data/oracle-1.15.5/`, one file for each group of programs.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from pathlib import Path

import tensorflow as tf
from tests.compat.contrib.playing import play

TARGET = Path(__file__).parents[1] / "data" / f"oracle-{tf.__version__}"
GROUPS = ("layer", "optimize_loss", "loss", "slim", "column", "image")


def main() -> None:
    for group in sys.argv[1:] or GROUPS:
        programs = importlib.import_module(f"tests.compat.contrib.{group}_programs").PROGRAMS
        told = {}
        for name, program in programs.items():
            try:
                told[name] = play(tf, program)
            except Exception:
                traceback.print_exc()
                print("FAILED", name)
        content = {"tensorflow": tf.__version__, "programs": told}
        (TARGET / f"contrib_{group}.json").write_text(json.dumps(content) + "\n")
        print(group, len(told), "of", len(programs))


if __name__ == "__main__":
    main()
