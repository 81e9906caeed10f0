"""Optimizers of `tf_keras` in a model's graph: one operation that makes a training step and counts it.

Those of `tf_keras.optimizers.legacy` know graphs and bring `get_updates`. The others are written for eager execution;
their update runs as one function, which keeps the order of its reads and assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras, private_tf
from lightwell.foreign.patches import Patches
from lightwell.model.interop.equality import comparing
from lightwell.model.interop.gradients import pass_gradients, patch_gradients_argument, patch_loss_argument, running
from lightwell.model.interop.initial_values import outside_the_graph
from lightwell.model.interop.trace import KerasTrace
from lightwell.model.interop.variables import move_to_local
from lightwell.model.layers.record import pass_loss

_v1 = tf.compat.v1


def patch_legacy_optimizers(keras: Any, patches: Patches) -> None:
    """Lets losses and gradients pass on their way into the optimizers of `tf_keras`."""
    patch_loss_argument(patches, keras.optimizers.legacy.Optimizer, "get_gradients")
    for kind in (keras.optimizers.Optimizer, keras.optimizers.legacy.Optimizer):
        patch_gradients_argument(patches, kind, "apply_gradients")


def legacy_train_op(
    trace: KerasTrace, optimizer: Any, loss: Any, variables: Sequence[Any] | None, global_step: Any
) -> tf.Operation:
    """The operation that computes the gradients of `loss`, updates `variables` and counts `global_step`, if any."""
    targets = list(variables or trace.graph.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES))
    if hasattr(optimizer, "get_updates"):
        original, copied = optimizer, private_keras.copy_unused_legacy(optimizer)  # its state belongs to one graph
        optimizer = type(original).from_config(original.get_config()) if copied is None else copied
        if global_step is not None:
            optimizer.iterations = global_step
        step = tf.group(*optimizer.get_updates(loss, targets))
        if copied is not None:  # the program reads the name of the counter from it
            private_keras.set_legacy_counter(original, optimizer.iterations)
        return step
    loss, optimizer = pass_loss(loss), _of_this_graph(trace, optimizer)
    if global_step is not None:
        move_to_local(trace.graph, optimizer.iterations)
        optimizer.iterations = global_step
    gradients = tf.gradients(loss, targets)
    targets = [target for target, gradient in zip(targets, gradients, strict=True) if gradient is not None]
    with trace.graph.name_scope(None), tf.variable_creator_scope(_slot_names(optimizer.name, targets)):
        optimizer.build(targets)
    _start_rate(trace, optimizer)

    def update(values: list[Any]) -> Any:
        with trace.optimizing(), comparing(), running("apply_gradients"):
            # A sum over the one replica there is would keep TensorFlow from ever forgetting this graph.
            alone = {} if tf.distribute.has_strategy() else {"skip_gradients_aggregation": True}
            optimizer.apply_gradients(zip(values, targets, strict=True), **alone)
        return tf.constant(0)

    known = pass_gradients([gradient for gradient in gradients if gradient is not None], targets)
    with tf.control_dependencies([tf.function(update, autograph=False)(known)]):
        return tf.no_op()


def _of_this_graph(trace: KerasTrace, optimizer: Any) -> Any:
    if getattr(optimizer.iterations.handle, "graph", None) is trace.graph:
        return optimizer
    return type(optimizer).from_config(outside_the_graph(optimizer.get_config))


def _start_rate(trace: KerasTrace, optimizer: Any) -> None:
    """The learning rate is a setting, not saved; that of a schedule is computed in each step before it is used."""
    rate = optimizer.learning_rate
    if isinstance(rate, tf.Variable):
        move_to_local(trace.graph, rate)
        if rate is not private_keras.legacy_rate(
            optimizer
        ):  # it would start from the count, which may not have started
            private_keras.replace_initializer(rate, rate.assign(0.0, read_value=False))


def _slot_names(optimizer: str, targets: Sequence[Any]) -> Callable[..., Any]:
    """Slots below the variable they serve, `dense/kernel/Adam/m`, and not below the slot's kind."""
    served = sorted(targets, key=lambda target: len(private_tf.variable_name(target)), reverse=True)

    def create(make: Callable[..., Any], **kwargs: Any) -> Any:
        slot_name = str(kwargs.get("name"))
        for target in served:
            if slot_name.endswith(f"/{private_tf.variable_name(target)}"):
                kwargs["name"] = (
                    f"{private_tf.variable_name(target)}/{optimizer}/{slot_name.removesuffix(f'/{private_tf.variable_name(target)}')}"
                )
                kwargs["initial_value"] = _after(target, kwargs["initial_value"])
                break
        return make(**kwargs)

    return create


def _after(target: Any, initial_value: Any) -> Any:
    """A slot that starts from the value of what it serves waits for it to have one."""
    if callable(initial_value):
        return initial_value

    def start() -> Any:
        with tf.control_dependencies([target.initializer]):
            return target.read_value()

    return start if isinstance(initial_value, tf.Variable) else initial_value
