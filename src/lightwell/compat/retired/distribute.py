"""Cells of `tf.contrib.distribute`."""

from __future__ import annotations

from collections.abc import Mapping

_OURS = """
    AllReduceCrossDeviceOps CollectiveAllReduceStrategy DistributeConfig MirroredStrategy ParameterServerStrategy
"""
_TENSORFLOW = "tensorflow:compat.v1.distribute"
_KEPT = """
    CrossDeviceOps OneDeviceStrategy ReplicaContext get_loss_reduction get_replica_context get_strategy has_strategy
    in_cross_replica_context
"""
CELLS: Mapping[str, str] = (
    {name: f"lightwell.compat.contrib.distribute:{name}" for name in _OURS.split()}
    | {name: f"{_TENSORFLOW}.{name}" for name in _KEPT.split()}
    | {
        "": "!Use tf.distribute; without num_gpus, a strategy takes all visible GPUs.",
        "DistributionStrategy": f"{_TENSORFLOW}.Strategy",
        "TPUStrategy": f"{_TENSORFLOW}.experimental.TPUStrategy",
        "get_distribution_strategy": f"{_TENSORFLOW}.get_strategy",
        "has_distribution_strategy": f"{_TENSORFLOW}.has_strategy",
        "initialize_tpu_system": "tensorflow:tpu.experimental.initialize_tpu_system",
        "run_standard_tensorflow_server": "!Start tf.distribute.Server, or the processes of TF_CONFIG.",
    }
)
