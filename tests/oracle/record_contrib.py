"""Records what `tf.contrib` of TensorFlow 1.15.5 gives for the cases of `tests/compat/contrib/*_cases.py`.

Run from the repository's root with an environment that has tensorflow 1.15.5:

    python -m tests.oracle.record_contrib [namespace ...]

Writes `tests/data/oracle-1.15.5/contrib/<namespace>.json`, one file for each namespace.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import sys
import warnings

import numpy as np
import tensorflow as tf
from tests.compat.contrib import same

CASES = pathlib.Path(__file__).parents[1] / "compat" / "contrib"


class _Rounded(json.JSONEncoder):
    """Seven digits are what a float32 holds."""

    def iterencode(self, given, _one_shot=False):  # type: ignore[no-untyped-def]
        return super().iterencode(_rounded(given), _one_shot)


def _rounded(value):  # type: ignore[no-untyped-def]
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return float(np.format_float_positional(value, 7, fractional=False)) if isinstance(value, float) else value


def main() -> None:
    warnings.simplefilter("ignore")
    tf.compat.v1.logging.set_verbosity("ERROR")
    wanted = sys.argv[1:] or sorted(path.stem[: -len("_cases")] for path in CASES.glob("*_cases.py"))
    for namespace in wanted:
        cases = importlib.import_module(f"tests.compat.contrib.{namespace}_cases")
        contrib = importlib.import_module("tensorflow.contrib")
        facts = {"tensorflow": tf.__version__, "cases": {}}
        for name, case in cases.CASES.items():
            facts["cases"][name] = same.outcome(case, contrib)
        if hasattr(cases, "facts"):
            facts["facts"] = same.plain(cases.facts(contrib))
        folder = same.TARGET / "contrib"
        folder.mkdir(exist_ok=True)
        (folder / f"{namespace}.json").write_text(json.dumps(facts, cls=_Rounded, sort_keys=True) + "\n")
        print(namespace, len(facts["cases"]))


if __name__ == "__main__":
    main()
