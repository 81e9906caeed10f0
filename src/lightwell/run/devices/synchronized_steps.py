"""Collective ops of a step that all processes of a cluster take together.

Owns the mean loss, the request to stop, and the check that all begin with the same checkpoint. The collectives are
TensorFlow's; each process must create and run them in the same order.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.base.keys import OWN_SCOPE
from lightwell.errors import UsageError
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.index import step_of
from lightwell.run.devices.member import Member
from lightwell.run.hooks.synchronized_stop import SynchronizedStop

_AGREEMENT = f"{OWN_SCOPE}agreement"
_NONE = -1


def synchronize_replica(spec: EstimatorSpec, is_last: Any = None) -> EstimatorSpec:
    """The spec of one replica with the mean loss over all processes, and a hook that stops all at the same step.

    Must be called in the replica. The tensor `is_last` is true when this process has no input for another step.
    """
    replica: Any = tf.distribute.get_replica_context()
    total, kind = tf.distribute.ReduceOp.SUM, spec.loss.dtype
    wish = tf.compat.v1.placeholder_with_default(0.0, [], name=f"{OWN_SCOPE}wish_to_stop")
    stops = tf.cast(wish, kind) if is_last is None else tf.cast(wish, kind) + tf.cast(is_last, kind)
    sent = tf.stack([tf.stop_gradient(spec.loss), stops])
    loss, wishes = tf.unstack(replica.all_reduce(total, sent))
    mean = _with_gradient_of(spec.loss, tf.divide(loss, replica.num_replicas_in_sync))
    step = tf.compat.v1.placeholder_with_default(tf.zeros([], tf.float64), [], name=f"{OWN_SCOPE}step_here")
    both = replica.all_reduce(total, tf.stack([tf.ones([], tf.float64), step, tf.square(step)]))
    tf.compat.v1.get_default_graph().get_collection_ref(_AGREEMENT).extend([step, both])
    return spec._replace(loss=mean, training_hooks=(*spec.training_hooks, SynchronizedStop(wish, wishes)))


def _with_gradient_of(own: Any, mean: Any) -> Any:
    """The mean loss, with the gradient of this process's own loss: each process computes its own."""

    def mean_of_all(_: Any) -> tuple[Any, Any]:
        return tf.identity(mean, name=f"{OWN_SCOPE}mean_loss"), lambda gradient: gradient

    return tf.custom_gradient(mean_of_all)(own)


def check_same_start(session: Any, graph: tf.Graph, checkpoint: Any, member: Member) -> None:
    """Returns once all processes have called it, and begin with the checkpoint of the same step.

    Raises:
        UsageError: they see different checkpoints, hence different directories.
    """
    tensors = graph.get_collection(_AGREEMENT)  # two for each replica of this process
    here = _NONE if checkpoint is None else step_of(str(checkpoint)) or 0
    count, steps, squares = (
        float(number) for number in session.run(tensors[1], dict.fromkeys(tensors[::2], float(here)))
    )
    if count * squares == steps * steps:
        return
    seen = "no checkpoint" if here == _NONE else f"that of step {here}"
    raise UsageError(
        f"train: the processes of the cluster do not see the same newest checkpoint in {member.model_dir}; this one, "
        f"{member.name}, sees {seen}. model_dir must be the same directory for all, on a disk that all can reach."
    )


def has_synchronized_steps(graph: tf.Graph) -> bool:
    """Whether several processes take the steps of a graph together, each with weights of its own."""
    return bool(graph.get_collection(_AGREEMENT))


def has_joint_statistics(graph: tf.Graph) -> bool:
    """Whether a checkpoint holds means over all processes, which are computed while it is saved."""
    on_read = tf.VariableSynchronization.ON_READ
    variables = graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
    return any(
        isinstance(variable, tf.distribute.DistributedValues) and variable.synchronization == on_read
        for variable in variables
    )
