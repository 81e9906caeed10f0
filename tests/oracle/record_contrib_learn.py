"""Records what `tf.contrib.learn` of TensorFlow 1.15.5 gives for `tests/compat/contrib/learn_programs.py`.

Run from the repository's root with an environment that has tensorflow 1.15.5:

    python -m tests.oracle.record_contrib_learn

Writes `tests/data/oracle-1.15.5/contrib_learn.json`.
"""

from __future__ import annotations

import json
import warnings

import tensorflow as tf
import tensorflow.contrib
from tests.compat.contrib import learn_programs, same


def main() -> None:
    warnings.simplefilter("ignore")
    tf.compat.v1.logging.set_verbosity("ERROR")
    told = {name: same.plain(program(tf)) for name, program in learn_programs.PROGRAMS.items()}
    target = same.TARGET / "contrib_learn.json"
    target.write_text(json.dumps({"tensorflow": tf.__version__, "programs": told}, sort_keys=True) + "\n")
    print(target, len(told))


if __name__ == "__main__":
    main()
