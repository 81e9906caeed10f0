"""What to say where memory ran out: the values and weights that take most of it, by layer, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from lightwell.run.failures.program_view import ProgramView

_MOST = 3
_MIB = 2**20


def memory_advice(reason: str, op: tf.Operation | None, program: ProgramView) -> list[str]:
    """Lines for the text of an error of memory.

    Args:
        reason: TensorFlow's sentence.
        op: the op that asked for memory, if it is known.
        program: the program that ran.
    """
    advice = "Make it smaller (fewer rows, a hashed vocabulary), or use a machine with more memory."
    lines = []
    if op is not None and op.outputs and op.outputs[0].shape.is_fully_defined():
        value = op.outputs[0]
        shape = ", ".join(map(str, value.shape.as_list()))
        lines.append(f"Its shape is [{shape}], {_bytes(value) / 2**30:,.1f} GiB of {value.dtype.name}. {advice}")
    else:
        lines.append(f"There is not enough memory. {advice}")
    lines += _largest(program)
    if "GPU" in reason:
        lines.append(
            "On a GPU: take a smaller batch; `nvidia-smi` shows whether another process holds its memory, and "
            'RunConfig(gpu_memory="growth") leaves to others what this one does not need.'
        )
    return lines


def _largest(program: ProgramView) -> Iterator[str]:
    """The largest outputs of layers, for each row of a batch where its length is open, and the largest weights."""
    outputs = [(call.path, value) for call in program.layers.calls for value in tf.nest.flatten(call.outputs)]
    outputs = [(path, value) for path, value in outputs if isinstance(value, tf.Tensor) and value.shape.rank]
    unit = " a row" if any(value.shape[0] is None for _, value in outputs) else ""
    if outputs:
        yield f"The largest outputs of layers: {_ranked(outputs, unit)}."
    with program.graph.as_default():
        weights = [(f"weights/{one.op.name}", one) for one in tf.compat.v1.trainable_variables()]
    if weights:
        yield f"The largest weights, which optimizers hold two or three times: {_ranked(weights, '')}."


def _ranked(named: Iterable[tuple[str, Any]], unit: str) -> str:
    largest = sorted(named, key=lambda one: -_bytes(one[1]))[:_MOST]
    return ", ".join(f"{path} {_bytes(value) / _MIB:,.1f} MiB{unit}" for path, value in largest)


def _bytes(value: Any) -> float:
    """The size of a value; an open dimension counts once."""
    sizes = value.shape.as_list() if value.shape.rank is not None else []
    return float(math.prod(size or 1 for size in sizes)) * max(1, value.dtype.base_dtype.size)
