"""Several layers, each in both directions; small helpers of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

_v1 = tf.compat.v1


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers of `tf.nn.bidirectional_dynamic_rnn`, the outputs of both directions joined before the next.

    Args:
        cells_fw: the forward cells, one for each layer.
        cells_bw: the backward cells.
        inputs: `[batch, time, depth]`, or time first with `time_major`.
        initial_states_fw: a first state for each forward cell.
        initial_states_bw: a first state for each backward cell.
        dtype: the type of the states, if no initial states are passed.
        sequence_length: of each example.
        parallel_iterations: as `dynamic_rnn` takes it.
        time_major: whether time comes first.
        scope: `stack_bidirectional_rnn` if None.
        swap_memory: as `dynamic_rnn` takes it.

    Returns:
        The joined outputs of the last layer, the forward states, the backward states.
    """
    _check("stack_bidirectional_dynamic_rnn", cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with _v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for place, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with _v1.variable_scope(f"cell_{place}"):
                outputs, (state_fw, state_bw) = _v1.nn.bidirectional_dynamic_rnn(
                    cell_fw,
                    cell_bw,
                    inputs,
                    initial_state_fw=initial_states_fw[place] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[place] if initial_states_bw else None,
                    sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations,
                    dtype=dtype,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                inputs = tf.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Sequence[Any],
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The same, unrolled: `inputs` and outputs are lists, a tensor for each step."""
    _check("stack_bidirectional_rnn", cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    outputs: Any = inputs
    with _v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for place, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with _v1.variable_scope(f"cell_{place}") as of_layer:
                outputs, state_fw, state_bw = _v1.nn.static_bidirectional_rnn(
                    cell_fw,
                    cell_bw,
                    outputs,
                    initial_states_fw[place] if initial_states_fw else None,
                    initial_states_bw[place] if initial_states_bw else None,
                    dtype,
                    sequence_length,
                    of_layer,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return outputs, tuple(states_fw), tuple(states_bw)


def transpose_batch_time(x: Any) -> Any:
    """Swaps the first two axes of a tensor that has them."""
    tensor = tf.convert_to_tensor(x)
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise UsageError(f"transpose_batch_time: expected a tensor of rank 2 or more, got shape {tensor.shape}.")
    rest = tf.range(2, tf.rank(tensor)) if tensor.shape.rank is None else list(range(2, tensor.shape.rank))
    return tf.transpose(tensor, tf.concat([[1, 0], rest], 0) if tensor.shape.rank is None else [1, 0, *rest])


def best_effort_input_batch_size(flat_input: Sequence[Any]) -> Any:
    """The batch size of inputs that begin with time: a number where one says it, else a tensor."""
    for one in flat_input:
        if one.shape.rank is not None and one.shape.rank > 1 and tf.compat.dimension_value(one.shape[1]) is not None:
            return int(one.shape[1])
    return tf.shape(flat_input[0])[1]


def _check(where: str, cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    if not isinstance(cells_fw, list) or not cells_fw:
        raise UsageError(f"{where}: Must specify at least one fw cell for BidirectionalRNN, a list; got {cells_fw!r}.")
    if not isinstance(cells_bw, list) or len(cells_fw) != len(cells_bw):
        raise UsageError(f"{where}: Forward and Backward cells must have the same depth; got {cells_bw!r}.")
    for side, states in (("fw", states_fw), ("bw", states_bw)):
        if states is not None and len(states) != len(cells_fw):
            raise UsageError(
                f"{where}: initial_states_{side} must be a list with one state for each of {len(cells_fw)} layers."
            )
