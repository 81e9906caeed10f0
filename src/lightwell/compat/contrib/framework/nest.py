"""`tf.contrib.framework.nest`: `tf.nest`, with the older name of one of its functions."""

from __future__ import annotations

from lightwell.base.lazy import lazy_names

_NOW = "assert_same_structure flatten is_nested map_structure pack_sequence_as"
__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {**{name: f"tensorflow:nest.{name}" for name in _NOW.split()}, "is_sequence": "tensorflow:nest.is_nested"},
    label="tf.contrib.framework.nest",
)
