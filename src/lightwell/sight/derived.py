"""Values that are made on request: gradients.

Takes entries, adds what is missing to the graph that is still open, gives the entries with their tensors. Asked for
once and all together, so that the backward pass is shared; what equals the optimizer's own backward pass is merged
with it by TensorFlow's graph optimizer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.errors import PathError
from lightwell.sight.catalogue import Entry


def with_gradients(program: Program, entries: Sequence[Entry], where: str) -> list[Entry]:
    """The entries, those of gradients with a tensor.

    Raises:
        PathError: the loss does not depend on one of them.
    """
    wanted = [entry for entry in entries if entry.section == "gradients" and entry.tensor is None]
    if not wanted:
        return list(entries)
    if program.graph.finalized:
        raise PathError(
            f"{where}: {wanted[0].path!r} has to be built, and the graph is final once training runs. Ask for it "
            "before: with Watch(...), or in the hook's begin()."
        )
    with program.graph.as_default(), tf.name_scope("lightwell/gradients"):
        sources = [entry.source.tensor for entry in wanted if entry.source is not None]
        gradients = tf.gradients(program.spec.loss, sources)
    made = {}
    for entry, gradient in zip(wanted, gradients, strict=True):
        if gradient is None:
            raise PathError(
                f"{where}: the loss does not depend on {entry.path.partition('/')[2]!r}, so {entry.path!r} does not "
                "exist."
            )
        with program.graph.as_default():
            made[entry.path] = dataclasses.replace(entry, tensor=tf.convert_to_tensor(gradient))
    return [made.get(entry.path, entry) for entry in entries]
