"""`keras_in_model_fn`: Keras objects work in a session-driven graph while the block is open.

    with keras_in_model_fn(mode) as keras:
        spec = keras.completed(model_fn(...))

Methods of Keras classes are patched when the block opens and restored when it closes, also after an exception; code of
other graphs sees an unchanged Keras. If the program has not loaded Keras, nothing happens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.errors import ModelFnError
from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches, SharedPatches
from lightwell.model.interop.initial_values import patch_initializers
from lightwell.model.interop.keras2_methods import patch_keras2_methods
from lightwell.model.interop.keras3_layers import patch_layers
from lightwell.model.interop.legacy_layers import keep_legacy_classes, patch_legacy_layers
from lightwell.model.interop.legacy_optimizers import legacy_train_op, patch_legacy_optimizers
from lightwell.model.interop.loss_scale import patch_losses
from lightwell.model.interop.optimizers import keras_train_op, patch_optimizers
from lightwell.model.interop.outside import take_back
from lightwell.model.interop.random_draws import patch_random
from lightwell.model.interop.trace import KerasTrace, active_trace, tracing
from lightwell.model.interop.variable_use import patch_variables
from lightwell.model.interop.variables import give_back
from lightwell.model.layers.per_graph import replica_number


def _patch_keras3(patches: Patches) -> None:
    keras = private_keras.keras3()
    patch_variables(keras, patches)
    patch_layers(keras, patches)
    patch_initializers(keras, patches)
    patch_random(keras, patches)
    patch_optimizers(keras, patches)
    patch_losses(keras, patches)
    patch_keras2_methods(keras, patches)


def _patch_legacy(patches: Patches) -> None:
    keep_legacy_classes(private_keras.legacy_keras(), patches)
    patch_legacy_layers(private_keras.legacy_keras(), patches)
    patch_legacy_optimizers(private_keras.legacy_keras(), patches)


_keras3 = SharedPatches(_patch_keras3)
_legacy = SharedPatches(_patch_legacy)


def keras_in_input_fn() -> contextlib.AbstractContextManager[KerasTrace]:
    """The same around `input_fn`: random layers draw from the graph's seed, and leave nothing in the checkpoint."""
    return keras_in_model_fn(None)


@contextlib.contextmanager
def keras_in_model_fn(mode: str | None) -> Iterator[KerasTrace]:
    """Opens a trace for the default graph; what Keras objects do inside the block is written into it.

    Args:
        mode: a `ModeKeys` value; layers run in training mode in `TRAIN` by default.
    """
    trace = KerasTrace(tf.compat.v1.get_default_graph(), mode)
    with contextlib.ExitStack() as stack:
        stack.enter_context(keras_replaced())
        if private_keras.keras3() is not None:
            stack.callback(give_back, trace)
            stack.callback(take_back, trace)
        stack.enter_context(private_keras.fresh_counters())
        stack.enter_context(tracing(trace))
        has_legacy = private_keras.is_legacy_loaded()
        yield trace
        if private_keras.is_legacy_loaded() and not has_legacy:
            raise ModelFnError(
                "model_fn was the first to import tf_keras, so its layers could not be followed: moving statistics "
                "would not be updated. Import tf_keras before the Estimator is used."
            )


@contextlib.contextmanager
def keras_replaced() -> Iterator[None]:
    """Patches Keras. Its classes have hundreds of subclasses, so patching takes a while: around several graphs, or
    several functions of one, it is done once."""
    with contextlib.ExitStack() as stack:
        if private_keras.keras3() is not None:
            stack.enter_context(_keras3.applied())
        if private_keras.legacy_keras() is not None:
            stack.enter_context(_legacy.applied())
        yield


def keras_in_replica() -> contextlib.AbstractContextManager[None]:
    """Around `model_fn`, inside the block for the graph: each replica of a strategy counts its layers by itself."""
    return private_keras.fresh_counters() if replica_number() else contextlib.nullcontext()


def is_keras_optimizer(optimizer: Any) -> bool:
    """Whether `optimizer` is one of Keras 3 or of `tf_keras`."""
    return isinstance(optimizer, _optimizer_classes())


def _optimizer_classes() -> tuple[type, ...]:
    keras, legacy = private_keras.keras3(), private_keras.legacy_keras()
    classes = [keras.optimizers.Optimizer] if keras is not None else []
    return (
        *classes,
        *([legacy.optimizers.Optimizer, legacy.optimizers.legacy.Optimizer] if legacy is not None else []),
    )


def keras_minimize(optimizer: Any, loss: Any, variables: Sequence[Any] | None, global_step: Any) -> tf.Operation:
    """The training step of a Keras optimizer, inside or outside of a `model_fn`."""
    trace = active_trace()
    if trace is None:
        with keras_in_model_fn(ModeKeys.TRAIN):
            return keras_minimize(optimizer, loss, variables, global_step)
    keras = private_keras.keras3()
    is_keras3 = keras is not None and isinstance(optimizer, keras.optimizers.Optimizer)
    train_op = keras_train_op if is_keras3 else legacy_train_op
    return train_op(trace, optimizer, loss, variables, global_step)
