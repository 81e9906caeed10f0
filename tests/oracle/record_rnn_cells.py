"""Records what the cells of TensorFlow 2.15.1 compute and how they name their variables.

Run from the repository's root with an environment that has tensorflow 2.15.1:

    python -m tests.oracle.record_rnn_cells

Writes `rnn_cells.npz` (numbers) and `rnn_cells.json` (names, shapes, sizes) into `tests/data/oracle-2.15.1/`.
"""

from __future__ import annotations

import inspect
import json
import pathlib
import warnings
from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.rnn_cell import cases, scopes

v1 = tf.compat.v1
rc = v1.nn.rnn_cell
TARGET = pathlib.Path(__file__).parents[1] / "data" / "oracle-2.15.1"


def shapes() -> dict[str, Any]:
    return {variable.op.name: variable.shape.as_list() for variable in v1.global_variables()}


def record_cells(numbers: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for case, make in cases.cells(rc).items():
        for way, use in cases.WAYS.items():
            with tf.Graph().as_default(), v1.Session() as session:
                made = use(rc, make, tf.float64 if "float64" in case else tf.float32)
                values = cases.fetch(session, cases.results(made), v1.global_variables())
                numbers.update({f"{case}/{way}/{key}": np.float32(value) for key, value in values.items()})
                facts[f"{case}/{way}"] = {
                    "variables": shapes(),
                    "output": made["output"].name,
                    "state_size": repr(made["cell"].state_size),
                    "output_size": repr(made["cell"].output_size),
                }
    return facts


def record_functions(numbers: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name, use in cases.functions(rc).items():
        with tf.Graph().as_default(), v1.Session() as session:
            values = tf.nest.flatten(cases.fetch(session, use(), v1.global_variables()))
            numbers.update({f"{name}/{index}": value for index, value in enumerate(values)})
            facts[name] = {"variables": shapes()}
    return facts


def signatures() -> dict[str, str]:
    classes = {name: getattr(rc, name) for name in dir(rc) if not name.startswith("_")}
    return {
        name: str(inspect.signature(kind.__init__))
        for name, kind in sorted(classes.items())
        if inspect.isclass(kind) and name != "LSTMStateTuple"
    }


def main() -> None:
    warnings.simplefilter("ignore")
    numbers: dict[str, Any] = {}
    facts = {
        "tensorflow": tf.__version__,
        "cells": record_cells(numbers),
        "functions": record_functions(numbers),
        "programs": {name: scopes.outcome(program) for name, program in scopes.programs(rc).items()},
        "signatures": signatures(),
    }
    numbers["tensorflow"] = np.array(tf.__version__)
    np.savez_compressed(TARGET / "rnn_cells.npz", **numbers)
    (TARGET / "rnn_cells.json").write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
