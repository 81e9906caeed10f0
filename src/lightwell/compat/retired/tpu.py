"""Cells of `tf.contrib.tpu`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import V1

_TPU = ("InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec")

CELLS: Mapping[str, str] = (
    {name: f"{V1}.tpu:{name}" for name in _TPU}
    | {
        name: f"tensorflow:compat.v1.tpu.{name}"
        for name in """
        CrossShardOptimizer batch_parallel bfloat16_scope core cross_replica_sum initialize_system outside_compilation
        replicate rewrite shard shutdown_system
    """.split()
    }
    | {
        "": "!Use tf.tpu and tf.distribute.TPUStrategy.",
        "DeviceAssignment": "tensorflow:tpu.experimental.DeviceAssignment",
        "Topology": "tensorflow:tpu.experimental.Topology",
    }
)
