"""A short profile of a training: how long each kernel and each op took, on devices and on the host."""

from __future__ import annotations

import collections
import glob
import os
import tempfile
import time
from typing import Any

import tensorflow as tf

from benchmarks.workers.protocol import Figures, Measure

_MOST_NAMES = 25
_LONGEST_NAME = 120


def trace(measure: Measure) -> Figures:
    """Profiles a measurement: of every plane (a GPU, the host's CPU) the events by name, longest first."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2  # not public; used in this profile alone

    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=1, python_tracer_level=0, device_tracer_level=1
    )
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder, options)
        started = time.perf_counter()
        figures = measure()
        seconds = time.perf_counter() - started
        tf.profiler.experimental.stop()
        space = xplane_pb2.XSpace()
        for path in glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True):
            with open(path, "rb") as file:
                space.MergeFromString(file.read())
    planes = [_plane(plane) for plane in space.planes if any(line.events for line in plane.lines)]
    return {"seconds": seconds, "per_second": figures["per_second"], "planes": planes}


def _plane(plane: Any) -> Figures:
    total: collections.Counter[str] = collections.Counter()
    count: collections.Counter[str] = collections.Counter()
    for line in plane.lines:
        for event in line.events:
            name = plane.event_metadata[event.metadata_id].name[:_LONGEST_NAME]
            total[name] += event.duration_ps
            count[name] += 1
    busy = max((sum(event.duration_ps for event in line.events) for line in plane.lines), default=0)
    names = [(picoseconds / 1e12, count[name], name) for name, picoseconds in total.most_common(_MOST_NAMES)]
    return {"name": plane.name, "busiest_line": busy / 1e12, "names": names}
