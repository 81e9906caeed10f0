"""`tf.contrib.deprecated`: summaries as TensorFlow spelled them before 1.0, with a tensor for their tag."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """A summary of numbers, a tag for each."""
    return _kept(tf.raw_ops.ScalarSummary(tags=tags, values=values, name=name or "ScalarSummary"), collections)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """A summary of a distribution."""
    return _kept(tf.raw_ops.HistogramSummary(tag=tag, values=values, name=name or "HistogramSummary"), collections)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: str | None = None) -> Any:
    """A summary of images."""
    made = tf.raw_ops.ImageSummary(tag=tag, tensor=tensor, max_images=max_images, name=name or "ImageSummary")
    return _kept(made, collections)


def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    name: str | None = None,
) -> Any:
    """A summary of sounds."""
    made = tf.raw_ops.AudioSummaryV2(
        tag=tag,
        tensor=tensor,
        sample_rate=tf.cast(sample_rate, tf.float32),
        max_outputs=max_outputs,
        name=name or "AudioSummary",
    )
    return _kept(made, collections)


def merge_summary(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """Merges summaries; adds the result to no collection by default."""
    made = tf.raw_ops.MergeSummary(inputs=list(inputs), name=name or "MergeSummary")
    return _kept(made, collections or ())


def merge_all_summaries(key: str = tf.compat.v1.GraphKeys.SUMMARIES) -> Any:
    """All summaries of a collection in one; None if there are none."""
    found = _v1.get_collection(key)
    return merge_summary(found) if found else None


def _kept(summary: Any, collections: Any) -> Any:
    for collection in [_v1.GraphKeys.SUMMARIES] if collections is None else collections:
        _v1.add_to_collection(collection, summary)
    return summary
