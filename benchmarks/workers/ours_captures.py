"""What only Lightwell has: captures, written beside a prediction of the same rows, and read beside plain files."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

import numpy as np

import lightwell as lw
from benchmarks.workers import data
from benchmarks.workers import estimator_models as models
from benchmarks.workers import estimator_pieces as pieces
from benchmarks.workers.estimator_models import Api
from benchmarks.workers.protocol import Measure, Plan, Worker, seconds_per_call, watched_memory

HIDDEN = (32, 22)  # with the ten logits, 64 numbers a row
_BATCH = 256


def register_captures(worker: Worker, api: Api) -> None:
    """Teaches a worker the rows."""
    worker.piece("capture_early", "capture", "full")(lambda plan: _early(api, plan))
    worker.piece("capture_all", "capture", "full")(lambda plan: _all(api, plan))
    worker.piece("capture_read", "capture", "npy", "arrow")(_read)
    worker.piece("capture_memory")(lambda plan: _memory(api, plan))


def _early(api: Api, plan: Plan) -> Measure:
    """The first pooled convolution of the CNN on disk, or the whole prediction."""
    rows = plan.scaled(4_096, 64)
    estimator = pieces.trained(api, models.cnn(api), models.digits_input(api, 256))
    return _measured(api, estimator, rows, 128, ["layers/max_pooling2d"], plan)


def _all(api: Api, plan: Plan) -> Measure:
    """All layers of a network of 64 units on disk, or its prediction."""
    rows = plan.scaled(100_000, 500)
    estimator = pieces.trained(api, models.mlp(api, HIDDEN), models.digits_input(api, 256))
    return _measured(api, estimator, rows, _BATCH, ["layers/*"], plan)


def _measured(api: Api, estimator: Any, rows: int, batch: int, taps: list[str], plan: Plan) -> Measure:
    input_fn = models.ordered_input(api, {"x": data.digits(rows)[0]}, batch)
    folder = os.path.join(tempfile.mkdtemp(), "acts")

    def capture() -> None:
        estimator.capture(input_fn, taps, folder, overwrite=True)

    def predict() -> None:
        for _ in estimator.predict(input_fn, yield_single_examples=False):
            pass

    call = capture if plan.variant == "capture" else predict
    call()
    return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}


def _read(plan: Plan) -> Measure:
    """All values of a column, summed up: of a capture, of a `.npy` file that is mapped, of Arrow's own reader."""
    import pyarrow as pa

    rows, width = plan.scaled(400_000, 1_000), 128
    values = np.random.default_rng(7).random((rows, width), np.float32)
    place = tempfile.mkdtemp()
    np.save(os.path.join(place, "values.npy"), values)

    def nothing(features: Any, mode: str) -> Any:
        return lw.EstimatorSpec(mode, predictions=features["x"])

    def input_fn() -> Any:
        import tensorflow as tf

        return tf.data.Dataset.from_tensor_slices({"x": values}).batch(1_000)

    folder = os.path.join(place, "acts")
    if plan.variant != "npy":
        lw.Estimator(nothing, os.path.join(place, "model")).capture(input_fn, "features/x", folder)
    files = (
        sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".arrow"))
        if plan.variant != "npy"
        else []
    )

    def read() -> float:
        if plan.variant == "npy":
            return float(np.load(os.path.join(place, "values.npy"), mmap_mode="r").sum())
        if plan.variant == "capture":
            return sum(float(chunk.sum()) for chunk in lw.open_capture(folder)["features/x"].chunks)
        found = 0.0
        for file in files:
            reader = pa.ipc.open_file(pa.memory_map(file))
            for number in range(reader.num_record_batches):
                found += float(reader.get_batch(number).column("features/x").values.to_numpy().sum())
        return found

    read()
    return lambda: {"per_second": values.nbytes / 1e6 / seconds_per_call(read, plan.seconds)}


def _memory(api: Api, plan: Plan) -> Measure:
    """How much more memory a capture of eight times as many rows takes at its peak.

    Both sizes are the same graph, since the number of rows is that of an array: else the larger capture would open a
    session of its own, which takes some megabytes whatever the rows, and the smaller one find that of the warm-up.
    """
    few = plan.scaled(40_000, 500)
    estimator = pieces.trained(api, models.mlp(api, HIDDEN), models.digits_input(api, 256))
    folder = os.path.join(tempfile.mkdtemp(), "acts")
    pixels = data.digits(1_000)[0]

    def peak(rows: int) -> float:
        def input_fn() -> Any:
            dataset = api.tf.data.Dataset
            counted = dataset.from_tensor_slices(np.zeros(rows, np.int8))
            endless = dataset.from_tensor_slices({"x": pixels}).repeat()
            return dataset.zip((counted, endless)).map(lambda _, features: features).batch(_BATCH)

        shutil.rmtree(folder, ignore_errors=True)
        told = watched_memory()
        estimator.capture(input_fn, ["layers/*"], folder, shard_bytes="4MB")
        return told()

    def measure() -> dict[str, Any]:
        from benchmarks.workers.protocol import resident_mb

        peak(few)
        base, small, large = resident_mb(), peak(few), peak(8 * few)
        return {
            "drift": (large - small) / (base + small),
            "resident_mb": [base, base + small, base + large],
            "calls": 2,
        }

    return measure
