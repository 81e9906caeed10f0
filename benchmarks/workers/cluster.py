"""Processes and devices that train together on this machine: the worker, and the program of each process.

The worker starts a cluster of processes, in a network of their own where the system allows it, so that all bytes of
the loopback device are theirs. The chief writes a line for each mark: seconds, global step, bytes carried.
"""

from __future__ import annotations

import ctypes
import fcntl
import itertools
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw
from benchmarks.workers.protocol import Figures, Measure, Plan, Worker

INPUTS, UNITS, CLASSES, BATCH, WARM_MARKS, EVERY = 256, 512, 10, 128, 2, 50
_NEW_NETWORK, _SET_FLAGS, _UP = 0x40000000, 0x8914, 0x41
KINDS = ("one", "one_single", "apart_2", "mirrored_1", "mirrored_2", "ps_1", "ps_2", "together_2")
worker = Worker(("tensorflow-cpu", "tensorflow", "numpy"), {"lightwell": lw.__version__})


@worker.row("scaling", *KINDS)
def scaling(plan: Plan) -> Measure:
    """Examples per second of one arrangement, the step of a worker and the bytes of a step."""
    kind, _, count = plan.variant.partition("_")
    workers = int(count) if count.isdigit() else 1
    settings = {"tf_random_seed": 1, "save_checkpoints_steps": 10**9, "experimental_max_worker_delay_secs": 0}
    settings |= {"save_summary_steps": None, "log_step_count_steps": None}
    settings["fuse_steps"] = False if plan.variant in ("one_single", "apart_2") else "auto"
    has_own_network = ctypes.CDLL(None).unshare(_NEW_NETWORK) == 0
    if has_own_network:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
            fcntl.ioctl(handle, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    sizes = (INPUTS, UNITS, UNITS, CLASSES)
    weight_bytes = 4 * sum(before * after + after for before, after in itertools.pairwise(sizes))
    expected = {"ps": 2 * weight_bytes, "together": 2 * (workers - 1) * weight_bytes}.get(kind, 0)

    def measure() -> Figures:
        own = workers if kind == "ps" else 1  # a step over parameter servers is that of one worker
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            job = {"kind": kind, "workers": workers, "every": EVERY * own, "folder": folder, "settings": settings}
            job["steps"] = job["every"] * (WARM_MARKS + plan.scaled(12, 2) + 1)
            _run_processes(kind, workers, job)
            lines = [json.loads(line) for line in Path(folder, "marks").read_text().splitlines()][WARM_MARKS:]
        seconds = [(b[0] - a[0]) / (b[1] - a[1]) for a, b in itertools.pairwise(lines)]
        steps, kinds = lines[-1][1] - lines[0][1], {"": statistics.median, "_least": min, "_most": max}
        return {
            "per_second": BATCH * (workers / own) / statistics.median(seconds),
            **{f"step_ms{name}": 1e3 * own * of(seconds) for name, of in kinds.items()},
            "bytes_per_step": (lines[-1][2] - lines[0][2]) / steps,
            "expected_bytes": expected,
            "steps": steps,
            "own_network": has_own_network,
        }

    return measure


def _run_processes(kind: str, workers: int, job: dict[str, Any]) -> None:
    """Starts the processes of a cluster and waits for them. Those that train come first, each on a core of its own."""
    jobs = {"ps": {"chief": 1, "worker": workers - 1, "ps": 1}, "together": {"worker": workers}}.get(kind, {})
    tasks = [(name, index) for name, count in jobs.items() for index in range(count)]
    sockets = [socket.socket() for _ in tasks]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    cluster: dict[str, list[str]] = {}
    for (name, _), one in zip(tasks, sockets, strict=True):
        cluster.setdefault(name, []).append(f"127.0.0.1:{one.getsockname()[1]}")
        one.close()
    tasks = tasks or [("chief", index) for index in range(workers if kind == "apart" else 1)]
    cores, processes = sorted(os.sched_getaffinity(0)), []
    for place, (name, index) in enumerate(tasks):
        own = cores if name == "ps" else cores[:workers] if kind == "mirrored" else [cores[place % len(cores)]]
        task = {"cluster": cluster, "task": {"type": name, "index": index}}
        variables = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
        variables |= {"TF_CONFIG": json.dumps(task)} if cluster else {}
        own_job = {**job, "name": f"-{place}" if kind == "apart" and place else ""}
        command = [sys.executable, "-m", "benchmarks.workers.cluster", json.dumps(own_job)]
        pin = partial(os.sched_setaffinity, 0, own)
        processes.append(subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, preexec_fn=pin))
    try:
        codes = [process.wait(300) for process in processes]
    finally:
        for process in processes:
            process.kill()
    if any(codes):
        raise RuntimeError(f"processes ended with {codes}")


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    net = features["x"]
    for _ in range(2):
        net = lw.layers.dense(net, UNITS, tf.nn.relu)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, lw.layers.dense(net, CLASSES))
    train_op = tf.compat.v1.train.AdamOptimizer(1e-4).minimize(loss, tf.compat.v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)


def run_program(job: dict[str, Any]) -> None:
    folder, has_servers, strategy = Path(job["folder"]), job["kind"] == "ps", None
    if job["kind"] == "together":
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    elif job["kind"] == "mirrored":
        logical = [tf.config.LogicalDeviceConfiguration()] * job["workers"]
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], logical)
        strategy = tf.distribute.MirroredStrategy([f"/cpu:{number}" for number in range(job["workers"])])
    config = lw.RunConfig(
        str(folder / f"model{job['name']}"),
        session_config=tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1),
        **job["settings"],
        train_distribute=strategy,
    )
    draws = np.random.RandomState(config.task_id)
    arrays = {"x": draws.randn(4096, INPUTS).astype(np.float32)}, draws.randint(0, CLASSES, 4096)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(arrays).repeat().batch(BATCH, drop_remainder=True)

    def note(step: Any) -> None:  # the first mark waits until all who train have joined
        while has_servers and len(list(folder.glob("joined-*"))) < job["workers"] - 1:
            time.sleep(0.05)
        with open("/proc/net/dev", encoding="utf-8") as lines:
            carried = next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))
        with open(folder / f"marks{job['name']}", "a", encoding="utf-8") as file:
            file.write(json.dumps([time.monotonic(), int(step.global_step), carried]) + "\n")

    hooks = [lw.Watch("global_step", every=job["every"], do=note)]
    if not config.is_chief:
        joined = folder / f"joined-{config.task_id}"
        hooks = [lw.Watch("global_step", every=1, on="all", do=lambda step: joined.touch())] if has_servers else []
    estimator = lw.Estimator(model_fn, config=config)
    if config.cluster_spec.jobs:
        spec = lw.TrainSpec(input_fn, max_steps=job["steps"], hooks=hooks)
        lw.train_and_evaluate(estimator, spec, lw.EvalSpec(input_fn, steps=1))
    else:
        estimator.train(input_fn, hooks, max_steps=job["steps"])


if __name__ == "__main__":
    run_program(json.loads(sys.argv[1])) if len(sys.argv) > 1 else worker.serve()
