"""Where the ops of a graph are placed: on the parameter servers of a cluster, its variables by turns, or as the user
says."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.config import RunConfig
from lightwell.keys import ModeKeys

# What holds the state that all who train share. Tables that only look up are filled by each for itself.
_ON_SERVERS = (
    "Variable VariableV2 AutoReloadVariable VarHandleOp MutableHashTable MutableHashTableV2 MutableHashTableOfTensors "
    "MutableHashTableOfTensorsV2 MutableDenseHashTable MutableDenseHashTableV2"
).split()


def device_of(config: RunConfig, mode: str) -> Any:
    """What `tf.Graph.device` is given while a graph is built; None to leave it to TensorFlow.

    In a training with parameter servers, the variables go to them one after the other, in the order in which they are
    made, and all else to the task that trains. Evaluation and prediction happen in this process alone, whatever the
    cluster.
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
