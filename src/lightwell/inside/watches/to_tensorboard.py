"""Values of a watch as TensorBoard events: numbers as scalars, spreads as histograms, under their paths. Strings are
left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.inside.paths.reductions import Histogram, Stats, histogram_of
from lightwell.run import events


def write_values(directory: str, values: Mapping[str, Any], step: int) -> None:
    """Writes one look of a watch."""
    summary = tf.compat.v1.Summary()
    for path, value in values.items():
        tag = path.replace(":", "_").replace("[", "_").replace("]", "")
        if isinstance(value, Stats):
            for name, number in value.as_dict().items():
                summary.value.add(tag=f"{tag}/{name}", simple_value=number)
        elif isinstance(value, Histogram):
            summary.value.add(tag=tag, histo=_proto(value))
        else:
            _add_raw(summary, tag, value)
    if summary.value:
        events.write_summary(directory, summary, step)


def _add_raw(summary: Any, tag: str, value: Any) -> None:
    array = np.asarray(getattr(value, "flat_values", getattr(value, "values", value)))  # ragged and sparse values
    if array.dtype.kind in "OSU":
        return
    if array.ndim == 0:
        summary.value.add(tag=tag, simple_value=float(array))
    elif array.size:
        summary.value.add(tag=tag, histo=_proto(histogram_of(array)))


def _proto(histogram: Histogram) -> Any:
    proto = tf.compat.v1.HistogramProto(
        min=float(histogram.edges[0]),
        max=float(histogram.edges[-1]),
        num=float(histogram.counts.sum()),
        sum=histogram.sum,
        sum_squares=histogram.sum_squares,
    )
    proto.bucket_limit.extend(float(edge) for edge in histogram.edges[1:])
    proto.bucket.extend(float(count) for count in histogram.counts)
    return proto
