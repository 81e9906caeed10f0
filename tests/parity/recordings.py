"""Where the recordings are, how they are written and read. The TensorFlow that made each one is stored inside it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parents[1] / "data" / "oracle-2.15.1"
TENSORFLOW = "2.15.1"
# Kernels differ in the last bits between TensorFlow builds and CPUs, and 50 Adam steps carry that on.
CLOSE = {"rtol": 1e-4, "atol": 1e-6}
ARRAY_GROUPS = ("predictions", "values")


class Pair(NamedTuple):
    """The recorded result of a scene, and ours."""

    recorded: dict[str, Any]
    ours: dict[str, Any]


def save_json(name: str, tensorflow: str, content: dict[str, Any]) -> None:
    """Write `name`.json."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"tensorflow": tensorflow, **content}, indent=1)
    (FOLDER / f"{name}.json").write_text(text + "\n")


def load_json(name: str) -> dict[str, Any]:
    """Read `name`.json; a recording of another TensorFlow is refused."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    if content["tensorflow"] != TENSORFLOW:
        raise ValueError(f"{name}.json was recorded with TensorFlow {content['tensorflow']}, expected {TENSORFLOW}")
    return content


def save_arrays(name: str, tensorflow: str, arrays: dict[str, Any]) -> None:
    """Write `name`.npz."""
    np.savez_compressed(FOLDER / f"{name}.npz", tensorflow=np.array(tensorflow), **arrays)


def load_arrays(name: str) -> dict[str, Any]:
    """Read `name`.npz."""
    with np.load(FOLDER / f"{name}.npz") as stored:
        return {key: stored[key] for key in stored.files if key != "tensorflow"}


def under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of one group: `values:dense/kernel` is `dense/kernel` under `values`."""
    start = f"{prefix}:"
    return {key.removeprefix(start): value for key, value in arrays.items() if key.startswith(start)}


def prefixed(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `under`."""
    return {f"{prefix}:{key}": value for key, value in arrays.items()}


def save_result(name: str, tensorflow: str, result: dict[str, Any], more: dict[str, Any]) -> None:
    """A scene's result: numbers to `name`.json, its groups of arrays and `more` to `name`.npz."""
    save_json(name, tensorflow, {key: value for key, value in result.items() if key not in ARRAY_GROUPS})
    arrays = {key: value for group in ARRAY_GROUPS for key, value in prefixed(group, result[group]).items()}
    save_arrays(name, tensorflow, {**arrays, **more})


def load_result(name: str) -> dict[str, Any]:
    """The inverse of `save_result`, without `more`."""
    arrays = load_arrays(name)
    return {**load_json(name), **{group: under(group, arrays) for group in ARRAY_GROUPS}}


def same(ours: Any, recorded: Any) -> bool:
    """Equal, but for the last bits of numbers."""
    if isinstance(recorded, dict):
        return isinstance(ours, dict) and list(ours) == list(recorded) and all(same(ours[k], recorded[k]) for k in ours)
    if isinstance(recorded, list):
        return isinstance(ours, list) and len(ours) == len(recorded) and all(map(same, ours, recorded))
    if isinstance(recorded, float):
        return isinstance(ours, float) and math.isclose(ours, recorded, rel_tol=1e-4, abs_tol=1e-5)
    return bool(ours == recorded)
