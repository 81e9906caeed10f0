"""`keras_in_model_fn`: Keras objects work in a session-driven graph while the block is open.

    with keras_in_model_fn(mode) as keras:
        spec = keras.completed(model_fn(...))

What a Keras class needs is replaced when the block opens and put back when it closes, also after an exception; other
threads see Keras as it is. If the program has not loaded Keras, nothing happens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from lightwell.interop import doors
from lightwell.interop.layer_calls import patch_layers
from lightwell.interop.patches import Patches, SharedPatches
from lightwell.interop.random_draws import patch_random
from lightwell.interop.trace import KerasTrace, tracing
from lightwell.interop.variable_use import patch_variables
from lightwell.interop.variables import give_back


def _patch_keras3(patches: Patches) -> None:
    keras = doors.keras3()
    patch_variables(keras, patches)
    patch_layers(keras, patches)
    patch_random(keras, patches)


_keras3 = SharedPatches(_patch_keras3)


@contextlib.contextmanager
def keras_in_model_fn(mode: str) -> Iterator[KerasTrace]:
    """Opens a trace for the default graph; what Keras objects do inside the block is written into it.

    Args:
        mode: a `ModeKeys` value; layers run in training mode in `TRAIN` unless told otherwise.
    """
    trace = KerasTrace(tf.compat.v1.get_default_graph(), mode)
    with contextlib.ExitStack() as stack:
        if doors.keras3() is not None:
            stack.enter_context(_keras3.applied())
            stack.enter_context(doors.fresh_counters())
            stack.callback(give_back, trace)
        stack.enter_context(tracing(trace))
        yield trace
