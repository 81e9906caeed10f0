"""Standing in for TensorFlow's column functions while a `model_fn` runs.

Owns `recording_columns`: inside it, every loaded module that holds TensorFlow's `input_layer` or `linear_model` under
that name holds ours instead; afterwards, also after an exception, all is as before. Ours do the same work for whoever
calls them meanwhile, and write into the open book of layers.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from lightwell.foreign.patches import SharedPatches
from lightwell.model.feature_columns.dense_input import input_layer, tensorflows_input_layer
from lightwell.model.feature_columns.linear import linear_model, tensorflows_linear_model

_STAND_INS = (
    ("input_layer", tensorflows_input_layer, input_layer),
    ("linear_model", tensorflows_linear_model, linear_model),
)


def recording_columns() -> AbstractContextManager[None]:
    """Lets calls of TensorFlow's `input_layer` and `linear_model` be written into the open book of layers."""
    return _stand_ins.applied()


_stand_ins = SharedPatches(lambda patches: patches.put_everywhere(_STAND_INS))
