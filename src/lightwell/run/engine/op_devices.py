"""On which device each op of a step runs, and why some of them stay on the CPU where there is a GPU.

TensorFlow places the ops of a graph when it first runs them, and tells nobody. So one step is run in a session of its
own, with initial weights that are dropped afterwards, and the placed graph is read. The optimizer of graphs is off
there: it would fold and rename ops.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.foreign import private_tf
from lightwell.run.devices.gpus import visible_gpus
from lightwell.run.engine.program import Program
from lightwell.run.engine.session import SessionPlan, finish_graph, open_session
from lightwell.run.failures.step import explained_step_error

_SECONDS = 120
_HOST = "CPU"


@dataclass(frozen=True)
class OpDevice:
    """Where an op runs.

    Attributes:
        name: the op's name in the graph.
        kind: its type, `MatMul`.
        device: `GPU:0`.
        reason: why it is on a CPU where there is a GPU; empty elsewhere.
    """

    name: str
    kind: str
    device: str
    reason: str = ""


def op_devices(program: Program, plan: SessionPlan, targets: Sequence[Any]) -> tuple[OpDevice, ...]:
    """Runs one step and says where its ops are. The graph is final afterwards.

    Args:
        program: the program.
        plan: how to open a session for it.
        targets: what a step runs.

    Raises:
        UsageError: no batch arrives in two minutes.
    """
    settings = tf.compat.v1.ConfigProto()
    settings.CopyFrom(plan.config)
    settings.graph_options.rewrite_options.disable_meta_optimizer = True
    options = tf.compat.v1.RunOptions(output_partition_graphs=True, timeout_in_ms=_SECONDS * 1000)
    metadata = tf.compat.v1.RunMetadata()
    finish_graph(program)
    plan = dataclasses.replace(plan, config=settings)
    session, _ = open_session(program, plan, prepare=program.inputs.initializers)
    with contextlib.closing(session):
        try:
            session.run(list(targets), options=options, run_metadata=metadata)
        except tf.errors.DeadlineExceededError:
            raise UsageError(
                f"describe(devices=True): a step did not end in {_SECONDS} seconds. It runs one step to see where its "
                "ops are placed; an input of queues gives it no batch: use a tf.data.Dataset, or devices=False."
            ) from None
        except tf.errors.OpError as error:
            raise explained_step_error(error, program) from None
    placed = {node.name: _short(node.device) for part in metadata.partition_graphs for node in part.node}
    has_gpu = bool(visible_gpus(plan.config))
    ops = [op for op in program.graph.get_operations() if op.name in placed]
    return tuple(
        OpDevice(op.name, op.type, placed[op.name], _reason(op) if has_gpu and _is_host(placed[op.name]) else "")
        for op in ops
    )


def _reason(op: tf.Operation) -> str:
    """Why an op is not on a GPU."""
    if _HOST in op.device.upper():
        return "placed there by tf.device"
    if not private_tf.has_gpu_kernel(op):
        return "has no kernel for GPUs"
    for name in op.colocation_groups():
        other = name.decode().removeprefix("loc:@")
        if other != op.name and not private_tf.has_gpu_kernel(op.graph.get_operation_by_name(other)):
            return f"stands with {other!r}, which has no kernel for GPUs"
    return "a number of the host, such as a shape, or next to one"


def _short(device: str) -> str:
    """`/job:localhost/replica:0/task:0/device:GPU:0` as `GPU:0`."""
    return device.rpartition("device:")[2] or device


def _is_host(device: str) -> bool:
    return device.startswith(_HOST)
