"""How the v1 face splits variables over parameter servers.

It does so even where there is none: then each variable is one piece, which is what its slots are named after in a
checkpoint (`linear/linear_model/age/weights/part_0/Ftrl`).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.run.config import RunConfig

_SMALLEST_PIECE = 64 << 20


def default_partitioner(face: Face, config: RunConfig) -> Any:
    """The partitioner where a user gave none; None on the v2 face, which splits nothing."""
    if face == "v2":
        return None
    return tf.compat.v1.min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas, min_slice_size=_SMALLEST_PIECE
    )
