"""Values that are made on request: gradients.

Takes entries, adds what is missing to the graph that is still open, gives the gradients. Asked for once and all
together, so that the backward pass is shared; what equals the optimizer's own backward pass is merged with it by
TensorFlow's graph optimizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import PathError
from lightwell.sight.catalogue import Entry


def make_gradients(program: Program, entries: Sequence[Entry], where: str) -> dict[str, Any]:
    """Path to tensor for entries of gradients; those of values that the loss does not depend on are left out.

    Raises:
        PathError: the graph is final already.
    """
    if not entries:
        return {}
    if program.graph.finalized:
        raise PathError(
            f"{where}: {entries[0].path!r} has to be built, and the graph is final by now. Read it with "
            f"Watch({entries[0].path!r}, ...), which builds it in time."
        )
    sources = [entry.source.tensor for entry in entries if entry.source is not None]
    with program.graph.as_default(), tf.name_scope("lightwell/gradients"):
        gradients = tf.gradients(program.spec.loss, sources)
        return {
            entry.path: tf.convert_to_tensor(gradient)
            for entry, gradient in zip(entries, gradients, strict=True)
            if gradient is not None
        }


def independent(path: str, where: str) -> PathError:
    """The error for a gradient that does not exist."""
    return PathError(f"{where}: the loss does not depend on {path.partition('/')[2]!r}, so {path!r} does not exist.")
