"""Load SavedModels with tensorflow 2.15.1, and run them in eager code and in a session.

Started by the tests marked `oracle`: `python -m tests.oracle.load_saved_model inputs.npz folder [folder ...]`. Writes
oracle.npz into each folder: what the default signature gives for the inputs, as `eager:<name>` and `session:<name>`,
and what a signature `taps` gives, as `taps:<name>`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def outputs(folder: str, fed: dict[str, Any]) -> dict[str, Any]:
    loaded = tf.saved_model.load(folder, tags=["serve"])
    tensors = {name: tf.constant(value) for name, value in fed.items()}
    found = {f"eager:{name}": value for name, value in loaded.signatures["serving_default"](**tensors).items()}
    found |= {f"taps:{name}": value for name, value in loaded.signatures["taps"](**tensors).items()}
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["serve"], folder).signature_def["serving_default"]
        feeds = {signature.inputs[name].name: value for name, value in fed.items()}
        fetches = {f"session:{name}": info.name for name, info in signature.outputs.items()}
        return found | session.run(fetches, feeds)


if __name__ == "__main__":
    with np.load(sys.argv[1]) as stored:
        given = {name: stored[name] for name in stored.files}
    for path in sys.argv[2:]:
        np.savez(Path(path) / "oracle.npz", **{name: np.asarray(value) for name, value in outputs(path, given).items()})
