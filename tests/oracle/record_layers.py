"""Records what the layers of TensorFlow 2.15.1 name, compute and learn.

Run from the repository's root with an environment that has tensorflow 2.15.1:

    python -m tests.oracle.record_layers

Writes `layers.npz` (numbers) and `layers.json` (names, shapes, signatures) into `tests/data/oracle-2.15.1/`.
"""

from __future__ import annotations

import json
import pathlib
import warnings
from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.layers.cases import CASES, NOT_RUN
from tests.model.layers.measure import measure, packed
from tests.model.layers.scopes import SCOPES
from tests.model.layers.signatures import signatures
from tests.model.layers.start import seeded_start

TARGET = pathlib.Path(__file__).parents[1] / "data" / "oracle-2.15.1"


def main() -> None:
    warnings.simplefilter("ignore")
    tf.compat.v1.logging.set_verbosity("ERROR")
    layers = tf.compat.v1.layers
    facts: dict[str, Any] = {}
    numbers: dict[str, Any] = {"tensorflow": np.array(tf.__version__)}
    for name, case in {**CASES, **SCOPES}.items():
        measured = measure(layers, case, run=name not in NOT_RUN)
        numbered, numbers[name] = packed(measured.numbers)
        facts[name] = {**measured.facts, "numbers": numbered}
    content = {
        "tensorflow": tf.__version__,
        "names": sorted(name for name in dir(layers) if not name.startswith("_")),
        "signatures": signatures(layers),
        "cases": facts,
    }
    # With TensorFlow 2 behaviour on, 2.15 seeds initializers from the process and not from the graph.
    tf.compat.v1.disable_v2_behavior()
    content["start"], numbers["start"] = packed(seeded_start(layers))
    TARGET.mkdir(parents=True, exist_ok=True)
    (TARGET / "layers.json").write_text(json.dumps(content, indent=1) + "\n")
    np.savez_compressed(TARGET / "layers.npz", **numbers)


if __name__ == "__main__":
    main()
