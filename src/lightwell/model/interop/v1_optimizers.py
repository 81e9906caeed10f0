"""Optimizers of `tf.compat.v1.train`, and those that programs derive from them, in a `model_fn`.

`CrossShardOptimizer` passes gradients on: their sum over the replicas of a TPU is, on one device, the gradient itself.
The losses and gradients of optimizers pass the book of layers. If the program has loaded Keras 3, v1 optimizers accept
its variables too (`minimize(loss, var_list=model.trainable_variables)`), and use the TensorFlow variables behind them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches, SharedPatches
from lightwell.model.interop.gradients import patch_gradient_functions, patch_gradients_argument, patch_loss_argument
from lightwell.model.interop.trace import KerasTrace, active_trace
from lightwell.model.interop.variables import ensure_created

_Optimizer = tf.compat.v1.train.Optimizer
_cross_replica_sum = tf.compat.v1.tpu.cross_replica_sum


def v1_optimizers_in_model_fn() -> AbstractContextManager[None]:
    """Lets v1 optimizers work for the graph that a `model_fn` builds, until the `with` block ends."""
    return _patches.applied()


def _replace(patches: Patches) -> None:
    patches.wrap(_Optimizer, "compute_gradients", _taking_keras_variables)
    patches.wrap(_Optimizer, "apply_gradients", _taking_keras_pairs)
    patch_loss_argument(patches, _Optimizer, "compute_gradients")
    patch_gradients_argument(patches, _Optimizer, "apply_gradients")
    patch_gradient_functions(patches)
    patches.put_everywhere([("cross_replica_sum", _cross_replica_sum, _of_one_replica)])


_patches = SharedPatches(_replace)


def _of_one_replica(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """`tf.compat.v1.tpu.cross_replica_sum` for one replica."""
    return x


def _taking_keras_variables(original: Any) -> Any:
    @functools.wraps(original)
    def compute_gradients(self: Any, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is not None and var_list is not None:
            var_list = [_plain(trace, variable) for variable in tf.nest.flatten(var_list)]
        return original(self, loss, var_list, *args, **kwargs)

    return compute_gradients


def _taking_keras_pairs(original: Any) -> Any:
    @functools.wraps(original)
    def apply_gradients(self: Any, grads_and_vars: Iterable[tuple[Any, Any]], *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is not None:
            grads_and_vars = [(gradient, _plain(trace, variable)) for gradient, variable in grads_and_vars]
        return original(self, grads_and_vars, *args, **kwargs)

    return apply_gradients


def _plain(trace: KerasTrace, variable: Any) -> Any:
    keras = private_keras.keras3()
    if keras is None or not isinstance(variable, private_keras.variable_class(keras)):
        return variable
    ensure_created(trace, variable)
    return private_keras.tf_variable_of(variable)
