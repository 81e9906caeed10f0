"""Tasks of a cluster, up to where a session would be opened: where ops are placed, and which parts are refused.

The same code makes the recording (with `tf.estimator`) and the comparison (with `lightwell`).
"""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.parity.run_configs import environment

_PLACED = ("VarHandleOp", "HashTableV2", "MutableHashTableV2", "MutableDenseHashTableV2", "MatMul")


class _Enough(Exception):
    """The model is built."""


def cluster(chief: str, servers: int) -> dict[str, list[str]]:
    """Addresses on this machine that nobody uses."""
    with contextlib.ExitStack() as held:
        names = [chief, "worker", "worker", *["ps"] * servers]
        found: dict[str, list[str]] = {}
        for name in names:
            probe = held.enter_context(socket.socket())
            probe.bind(("", 0))
            found.setdefault(name, []).append(f"localhost:{probe.getsockname()[1]}")
        return found


def data() -> Any:
    return tf.data.Dataset.from_tensors(({"x": tf.ones([4, 3])}, tf.ones([4, 2]))).repeat()


def placement(lib: Any, folder: Path, kind: str, index: int, servers: int, device_fn: Any = None) -> dict[str, str]:
    """Op name to device, of what a training builds."""
    placed: dict[str, str] = {}

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        v1 = tf.compat.v1
        kernel = v1.get_variable("kernel", [3, 2])
        bias, scale = v1.get_variable("bias", [2]), v1.get_variable("scale", [2])
        local = [v1.GraphKeys.LOCAL_VARIABLES]
        v1.get_variable("local", [2], collections=local, trainable=False)
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
        tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2)
        loss = tf.reduce_mean((tf.matmul(features["x"], kernel) + bias) * scale)
        v1.train.AdagradOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        graph = v1.get_default_graph()
        placed.update({op.name: op.device for op in graph.get_operations() if op.type in _PLACED})
        raise _Enough

    place = {"cluster": cluster("master" if kind == "master" else "chief", servers)}
    with environment({**place, "task": {"type": kind, "index": index}}), contextlib.suppress(_Enough):
        config = lib.RunConfig(str(folder), device_fn=device_fn)
        lib.Estimator(model_fn, config=config).train(data, steps=1)
    return placed


class _Placed(tf.compat.v1.train.SessionRunHook):
    """Notes where variables stand when a session is about to be opened, and lets none be."""

    def __init__(self) -> None:
        self.devices: dict[str, str] = {}

    def begin(self) -> None:
        operations = tf.compat.v1.get_default_graph().get_operations()
        self.devices = {op.name: op.device for op in operations if op.type == "VarHandleOp"}
        raise _Enough


def wide_model(lib: Any, folder: Path) -> dict[str, bool]:
    """Slots of a ready-made model by name, and whether they stand on the server of their variable."""
    placed = _Placed()
    with environment({"cluster": cluster("chief", 3), "task": {"type": "chief", "index": 0}}):
        columns = [tf.feature_column.numeric_column(name, 3) for name in ("x", "y")]
        made = lib.LinearRegressor(columns, label_dimension=2, config=lib.RunConfig(str(folder)))
        with contextlib.suppress(_Enough):
            made.train(lambda: data().map(lambda x, y: ({"x": x["x"], "y": x["x"]}, y)), [placed], steps=1)
    serves = {
        slot: max((name for name in placed.devices if f"/{name}/" in slot), key=len, default=None)
        for slot in placed.devices
    }
    return {slot: placed.devices[slot] == placed.devices[name] for slot, name in serves.items() if name}


def on_one(op: Any) -> str:
    """A placement of the user's own."""
    return "/job:ps/task:1" if op.type == "VarHandleOp" else "/job:worker/task:0"


PLACEMENTS: dict[str, dict[str, Any]] = {
    "chief, 2 servers": {"kind": "chief", "index": 0, "servers": 2},
    "worker 1, 2 servers": {"kind": "worker", "index": 1, "servers": 2},
    "master, 3 servers": {"kind": "master", "index": 0, "servers": 3},
    "worker 0, no server": {"kind": "worker", "index": 0, "servers": 0},
    "worker 0, a device_fn": {"kind": "worker", "index": 0, "servers": 2, "device_fn": on_one},
}


def refusal(lib: Any, folder: Path, kind: str, index: int, jobs: dict[str, list[str]]) -> list[str]:
    """What `train_and_evaluate` says to a part that there is not: the type of the error, and its text."""
    with environment({"cluster": jobs, "task": {"type": kind, "index": index}}):
        made = lib.Estimator(lambda features, labels, mode: None, config=lib.RunConfig(str(folder)))
        try:
            lib.train_and_evaluate(made, lib.TrainSpec(data, max_steps=1), lib.EvalSpec(data, steps=1))
        except ValueError as error:
            return ["ValueError", str(error)]
    return []


REFUSALS: dict[str, dict[str, Any]] = {
    "evaluator 1": {"kind": "evaluator", "index": 1, "jobs": {"chief": ["h0:1"]}},
    "a job of one's own": {"kind": "foo", "index": 0, "jobs": {"chief": ["h0:1"], "foo": ["h1:1"]}},
    "local": {"kind": "local", "index": 0, "jobs": {"chief": ["h0:1"], "local": ["h1:1"]}},
}


def outcomes(lib: Any, folder: Path) -> dict[str, Any]:
    """All of it, as plain values."""
    return {
        "placements": {name: placement(lib, folder / name, **case) for name, case in PLACEMENTS.items()},
        "slots of a wide model": wide_model(lib, folder / "wide"),
        "refusals": {name: refusal(lib, folder / name, **case) for name, case in REFUSALS.items()},
    }
