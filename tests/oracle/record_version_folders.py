"""Record what the private `gc` filters of tensorflow_estimator 2.15 select.

Run with an environment that holds tensorflow 2.15.1; writes tests/data/oracle-2.15.1/version_folders.json.
"""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow as tf
from tensorflow_estimator.python.estimator import gc

OUT = Path(__file__).parents[1] / "data" / "oracle-2.15.1" / "version_folders.json"
VERSIONS = [[], [0], [0, 1], [2, 3, 4, 5, 10, 11], [0, 6], [1, 2, 3], [5, 5, 6], [7, 3, 0, 1, 6, 2, 5, 4]]


def rules(n):
    return {
        "largest_export_versions": gc._largest_export_versions(n),
        "one_of_every_n_export_versions": gc._one_of_every_n_export_versions(n),
        "mod_export_version": gc._mod_export_version(n),
        "negation": gc._negation(gc._largest_export_versions(n)),
        "union": gc._union(gc._largest_export_versions(n), gc._mod_export_version(n + 1)),
    }


if __name__ == "__main__":
    cases = [
        {"rule": rule, "n": n, "versions": versions, "kept": [p.export_version for p in select(paths)]}
        for n in (1, 2, 3, 4)
        for versions in VERSIONS
        for paths in [[gc.Path(f"/base/{version}", version) for version in versions]]
        for rule, select in rules(n).items()
    ]
    OUT.write_text(json.dumps({"tensorflow": tf.__version__, "cases": cases}) + "\n")
