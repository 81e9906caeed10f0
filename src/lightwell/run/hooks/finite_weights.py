"""Warns once in a run if the weights of a checkpoint are not finite.

The loss need not show it: a feature that is NaN may reach a weight through its gradient alone, and the last step's
weights reach no loss. The check runs when a checkpoint is written, which is rare and slower than the check.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.foreign import private_tf

_AT_ONCE = 64 << 20  # bytes that are on the host at one time
_MOST_NAMED = 3


class FiniteWeights:
    """Checks the weights of a training, until it has warned."""

    def __init__(self) -> None:
        self._has_warned = False

    def look(self, session: Any, step: int) -> None:
        """Warns if weights in the checkpoint of a step are not finite."""
        if self._has_warned:
            return
        try:
            bad = [f"{name} ({counts})" for name, counts in non_finite_variables(session).items()]
        except (tf.errors.OpError, TypeError):  # a variable that was never initialised; the checkpoint is written
            return
        if bad:
            self._has_warned = True
            more = f" and {len(bad) - _MOST_NAMED} more" if len(bad) > _MOST_NAMED else ""
            logger.warning(
                "train: the checkpoint of step %d holds weights that are not finite: %s%s. To find where that began, "
                'train from an earlier checkpoint with hooks=[lw.Watch(lw.stats("features/*", "gradients/*"), '
                "every=1)], and clean the features or clip the gradients.",
                step,
                ", ".join(bad[:_MOST_NAMED]),
                more,
            )


def non_finite_variables(session: Any) -> dict[str, str]:
    """The variables of a session that hold NaN, and the trainable ones that hold infinities, by name with how many."""
    graph, keys = session.graph, tf.compat.v1.GraphKeys
    trained = {variable.name for variable in graph.get_collection(keys.TRAINABLE_VARIABLES)}
    counts: dict[str, str] = {}
    # Only the first replica is read: to read all as one would add to the graph.
    whole = [private_tf.parts_of(variable)[0] for variable in graph.get_collection(keys.GLOBAL_VARIABLES)]
    for variables in _groups(whole):
        for variable, value in zip(variables, session.run(variables), strict=True):
            text = _count_text(value, variable.name in trained)
            if text:
                counts[private_tf.variable_name(variable)] = text
    return counts


def _count_text(value: Any, is_trained: bool) -> str:
    """How many numbers of a value are not finite, as text; empty if all are."""
    value = np.asarray(value)
    with np.errstate(all="ignore"):
        if np.isfinite(np.add.reduce(value, axis=None)):  # one pass, without a temporary array
            return ""
    # A variable that is not trained may be infinite on purpose: the best value so far, before there is one.
    counts = [(int(np.isnan(value).sum()), "NaN"), (int(np.isinf(value).sum()) if is_trained else 0, "infinite")]
    text = " and ".join(f"{count} {word}" for count, word in counts if count)
    return f"{text} of {value.size}" if text else ""


def _groups(variables: Sequence[Any]) -> Iterator[list[Any]]:
    """The variables of floating point, as many at a time as the host can well hold."""
    group: list[Any] = []
    size = 0
    for variable in variables:
        if not variable.dtype.is_floating:
            continue
        bytes_of_it = (variable.shape.num_elements() or 0) * variable.dtype.size
        if group and size + bytes_of_it > _AT_ONCE:
            yield group
            group, size = [], 0
        group.append(variable)
        size += bytes_of_it
    if group:
        yield group
