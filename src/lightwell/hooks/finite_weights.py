"""Whether the weights that go into a checkpoint are numbers: said once in a run where they are not.

The loss need not show it: a feature that is NaN may reach a weight through its gradient alone, and the last step's
weights reach no loss any more. Looked at when a checkpoint is written, which is seldom and slower than the look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell import _tf
from lightwell.log import logger

_AT_ONCE = 64 << 20  # bytes that are on the host at one time
_MOST_NAMED = 3


class FiniteWeights:
    """Looks at the weights of a training whenever it is asked to, until it has found something to say."""

    def __init__(self) -> None:
        self._has_said = False

    def look(self, session: Any, step: int) -> None:
        """Says of the checkpoint of a step which weights in it are no numbers, if any."""
        if self._has_said:
            return
        try:
            bad = [f"{name} ({said})" for name, said in not_finite(session).items()]
        except (tf.errors.OpError, TypeError):  # a variable that was never initialised; the checkpoint is written
            return
        if bad:
            self._has_said = True
            more = f" and {len(bad) - _MOST_NAMED} more" if len(bad) > _MOST_NAMED else ""
            logger.warning(
                "train: the checkpoint of step %d holds weights that are not finite: %s%s. To find where that began, "
                'train from an earlier checkpoint with hooks=[lw.Watch(lw.stats("features/*", "gradients/*"), '
                "every=1)], and clean the features or clip the gradients.",
                step,
                ", ".join(bad[:_MOST_NAMED]),
                more,
            )


def not_finite(session: Any) -> dict[str, str]:
    """The variables of a session that hold NaN, and the trainable ones that hold infinities, by name with how many."""
    graph, keys = session.graph, tf.compat.v1.GraphKeys
    trained = {variable.name for variable in graph.get_collection(keys.TRAINABLE_VARIABLES)}
    found: dict[str, str] = {}
    # What replicas have is looked at in the first of them: to read all as one would add to the graph.
    whole = [_tf.parts_of(variable)[0] for variable in graph.get_collection(keys.GLOBAL_VARIABLES)]
    for variables in _groups(whole):
        for variable, value in zip(variables, session.run(variables), strict=True):
            said = _said(value, variable.name in trained)
            if said:
                found[_tf.variable_name(variable)] = said
    return found


def _said(value: Any, is_trained: bool) -> str:
    """How many numbers of a value are none; nothing if all are."""
    value = np.asarray(value)
    with np.errstate(all="ignore"):
        if np.isfinite(np.add.reduce(value, axis=None)):  # once over the numbers, and nothing is made
            return ""
    # Of what is not trained, infinity may be meant: the best value so far, before there is one.
    counts = [(int(np.isnan(value).sum()), "NaN"), (int(np.isinf(value).sum()) if is_trained else 0, "infinite")]
    said = " and ".join(f"{count} {word}" for count, word in counts if count)
    return f"{said} of {value.size}" if said else ""


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
