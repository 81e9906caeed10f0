"""Cells of `tf.contrib.cluster_resolver`."""

from __future__ import annotations

from collections.abc import Mapping

CELLS: Mapping[str, str] = {
    name: f"tensorflow:distribute.cluster_resolver.{name}"
    for name in ("ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver")
}
