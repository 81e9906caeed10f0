"""Values in checkpoint files: a copy of a checkpoint with other values, and initial values from its graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError, reason_of
from lightwell.foreign import private_tf
from lightwell.run.checkpoints.entries import WHOLE, parts_of
from lightwell.run.checkpoints.reader import open_checkpoint
from lightwell.run.engine.side_session import open_side_session

_MOST_SHOWN = 5


def write_changed(source: str, values: Mapping[str, Any], target: str) -> None:
    """Writes the checkpoint `target`, which is `source` with other values for some names.

    What is not changed goes from file to file as it is, in the parts that it is stored in; what is changed is cut into
    the same parts.
    """
    dtypes = open_checkpoint(source).get_variable_to_dtype_map()
    rows = [(name, part) for name, parts in sorted(parts_of(source).items()) for part in parts]
    unchanged = [row for row in rows if row[0] not in values]
    with open_side_session() as (session, _), session.graph.as_default(), tf.device("/cpu:0"):
        taken: dict[tuple[str, str], Any] = {}
        if unchanged:
            names, parts = zip(*unchanged, strict=True)
            types = [dtypes[name] for name in names]
            restored = tf.raw_ops.RestoreV2(
                prefix=source, tensor_names=names, shape_and_slices=parts, dtypes=types, name="kept"
            )
            taken = dict(zip(unchanged, restored, strict=True))
        fed = {}
        for name, part in rows:
            if name in values:
                value = _cut(values[name], part)
                taken[name, part] = tf.compat.v1.placeholder(dtypes[name], value.shape)
                fed[taken[name, part]] = value
        save = tf.raw_ops.SaveV2(
            prefix=target,
            tensor_names=[name for name, _ in rows],
            shape_and_slices=[part for _, part in rows],
            tensors=[taken[row] for row in rows],
        )
        session.run(save, fed)


def initial_values(checkpoint: str, names: Sequence[str]) -> dict[str, np.ndarray[Any, Any]]:
    """What variables of a checkpoint start from, as the graph saved beside it says.

    Raises:
        UsageError: there is no such graph, or it cannot tell.
    """
    path = f"{checkpoint}.meta"
    instead = 'Say the values yourself: w.slots["dense/kernel/Momentum"][...] = 0.'
    if not tf.io.gfile.exists(path):
        raise UsageError(
            f"reset_slots: {path} is not there (RunConfig.checkpoint_save_graph_def is off?), and only the graph knows "
            f"what the slots start from. {instead}"
        )
    with open_side_session(path) as (session, _), session.graph.as_default():
        variables = session.graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES)
        named = [(*private_tf.whole_variable(variable), variable) for variable in variables]
        pieces_of = {name: [(shape, variable) for one, shape, variable in named if one == name] for name in names}
        missing = [name for name in names if not pieces_of[name]]
        if missing:
            raise UsageError(f"reset_slots: the graph in {path} does not tell how {missing} start. {instead}")
        pieces = [variable for parts in pieces_of.values() for _, variable in parts]
        try:
            session.run([variable.initializer for variable in pieces])
            values = iter(session.run([variable.read_value() for variable in pieces]))
        except tf.errors.OpError as error:
            raise UsageError(
                f"reset_slots: {list(pieces_of)[:_MOST_SHOWN]} start from other values: {reason_of(error)}. {instead}"
            ) from error
    return {name: _joined(parts[0][0], [(one, next(values)) for _, one in parts]) for name, parts in pieces_of.items()}


def _joined(shape: Sequence[int], pieces: Sequence[tuple[Any, Any]]) -> np.ndarray[Any, Any]:
    """The value of a whole variable, joined from its pieces; of a piece that is saved by itself, its own."""
    if len(pieces) == 1:
        return np.asarray(pieces[0][1])
    whole: np.ndarray[Any, Any] = np.zeros(shape, pieces[0][1].dtype)
    for variable, value in pieces:
        whole[private_tf.slice_in_whole(variable)] = value
    return whole


def _cut(value: Any, part: str) -> Any:
    """The part of a value that is stored as `part`; a value that is such a part already, as it is."""
    if part == WHOLE:
        return value
    *_, extents = part.split(" ")
    ranges = [None if one == "-" else tuple(map(int, one.split(","))) for one in extents.split(":")]
    if tuple(value.shape) == tuple(
        size if one is None else one[1] for one, size in zip(ranges, value.shape, strict=True)
    ):
        return value
    return value[tuple(slice(None) if one is None else slice(one[0], one[0] + one[1]) for one in ranges)]
