"""Cells of `tf.contrib.cluster_resolver`."""

from __future__ import annotations

from collections.abc import Mapping

_TENSORFLOW = "tensorflow:distribute.cluster_resolver"
_KEPT = """
    ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver SlurmClusterResolver
    TFConfigClusterResolver TPUClusterResolver
"""
CELLS: Mapping[str, str] = {name: f"{_TENSORFLOW}.{name}" for name in _KEPT.split()} | {
    "GceClusterResolver": f"{_TENSORFLOW}.GCEClusterResolver",
    "UnionClusterResolver": f"{_TENSORFLOW}.UnionResolver",
}
