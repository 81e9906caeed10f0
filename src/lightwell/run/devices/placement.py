"""Places the ops of a graph: variables on the parameter servers of a cluster in turn, or as the user says."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.run.config import RunConfig

# Ops with state that all workers share. Lookup tables that cannot change are filled by each worker for itself.
_ON_SERVERS = (
    "Variable VariableV2 AutoReloadVariable VarHandleOp MutableHashTable MutableHashTableV2 MutableHashTableOfTensors "
    "MutableHashTableOfTensorsV2 MutableDenseHashTable MutableDenseHashTableV2"
).split()


def device_of(config: RunConfig, mode: str) -> Any:
    """The argument of `tf.Graph.device` while a graph is built; None to leave the placement to TensorFlow.

    In a training with parameter servers, the variables go to them in turn, in order of creation, and all else to the
    task that trains. Evaluation and prediction run in this process alone, whatever the cluster.
    """
    if config.device_fn is not None or mode != ModeKeys.TRAIN or not config.master or not config.num_ps_replicas:
        return config.device_fn
    return tf.compat.v1.train.replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        merge_devices=True,
        cluster=config.cluster_spec,
        ps_ops=_ON_SERVERS,
    )
