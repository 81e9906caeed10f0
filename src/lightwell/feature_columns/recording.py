"""Standing in for TensorFlow's column functions while a `model_fn` runs.

Owns `recording_columns`: inside it, every loaded module that holds TensorFlow's `input_layer` or `linear_model` under
that name holds ours instead; afterwards, also after an exception, all is as before. Ours do the same work for whoever
calls them meanwhile, and write into the open book of layers.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from types import ModuleType

from lightwell.feature_columns.dense_input import input_layer, tensorflows_input_layer
from lightwell.feature_columns.linear import linear_model, tensorflows_linear_model
from lightwell.interop.patches import Patches, SharedPatches

_STAND_INS = {
    "input_layer": (tensorflows_input_layer, input_layer),
    "linear_model": (tensorflows_linear_model, linear_model),
}


def recording_columns() -> AbstractContextManager[None]:
    """Lets calls of TensorFlow's `input_layer` and `linear_model` be written into the open book of layers."""
    return _stand_ins.applied()


def _replace(patches: Patches) -> None:
    # Everywhere, because `from tensorflow.compat.v1.feature_column import input_layer` leaves the name in any module.
    for module in list(sys.modules.values()):
        names = vars(module) if isinstance(module, ModuleType) else {}
        for name, (original, ours) in _STAND_INS.items():
            if names.get(name) is original:
                patches.put(module, name, ours)


_stand_ins = SharedPatches(_replace)
