"""`tf.contrib.distribute`: strategies by their old arguments, which are those of `tf.distribute`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1

DistributeConfig = namedtuple(
    "DistributeConfig", ("train_distribute", "eval_distribute", "remote_cluster"), defaults=(None, None, None)
)


class MirroredStrategy(tf.compat.v1.distribute.MirroredStrategy):
    """The same model on several devices, which agree on every step.

    Args:
        devices: their names.
        num_gpus: instead of `devices`, the number of GPUs; 0 for the CPU. All visible GPUs if both are None.
        num_gpus_per_worker: the same, by another name.
        cross_device_ops: how gradients are brought together.
        auto_shard_dataset: without effect.
        cross_tower_ops: `cross_device_ops` by its older name.
    """

    def __init__(
        self,
        devices: Any = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        count = num_gpus_per_worker if num_gpus is None else num_gpus
        if devices is None and count is not None:
            devices = [f"/device:GPU:{number}" for number in range(count)] or ["/device:CPU:0"]
        super().__init__(devices, cross_device_ops or cross_tower_ops)


class CollectiveAllReduceStrategy(tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy):
    """The same model on several machines, as `TF_CONFIG` names them.

    Args:
        num_gpus_per_worker: without effect: each machine uses the GPUs that it sees.
        communication: as `MultiWorkerMirroredStrategy` takes it.
    """

    def __init__(self, num_gpus_per_worker: int = 0, communication: Any = None) -> None:
        super().__init__(*([] if communication is None else [communication]))


class ParameterServerStrategy(tf.compat.v1.distribute.experimental.ParameterServerStrategy):
    """Variables on parameter servers, as `TF_CONFIG` names them.

    Args:
        num_gpus_per_worker: without effect: each machine uses the GPUs that it sees.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__()


def AllReduceCrossDeviceOps(  # noqa: N802
    all_reduce_alg: str = "nccl",
    num_packs: int = 1,
    agg_small_grads_max_bytes: int = 0,
    agg_small_grads_max_group: int = 10,
) -> Any:
    """How gradients of several GPUs are brought together: `nccl` or `hierarchical_copy`."""
    if all_reduce_alg == "hierarchical_copy":
        return tf.distribute.HierarchicalCopyAllReduce(num_packs)
    return tf.distribute.NcclAllReduce(num_packs)
