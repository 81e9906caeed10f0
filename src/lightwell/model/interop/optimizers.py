"""Keras 3 optimizers in a model's graph: one operation that makes a training step and counts it.

The update runs as one function, because inside a function TensorFlow keeps the order of reads and assignments that
Keras' code needs. The optimizer's state is saved: slots below the variable they serve (`dense/kernel/adam/velocity`),
the rest below `optimizer/`. The learning rate is a setting and not saved: a new value in the program takes effect on
resuming.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import LEARNING_RATE_COLLECTION, OPTIMIZER_SCOPE
from lightwell.errors import ModelFnError
from lightwell.foreign import private_keras, private_strategies, private_tf
from lightwell.foreign.patches import Patches
from lightwell.model.interop.equality import comparing
from lightwell.model.interop.gradients import pass_gradients, running
from lightwell.model.interop.initial_values import outside_the_graph
from lightwell.model.interop.trace import KerasTrace, active_trace, collect
from lightwell.model.interop.variables import ensure_created, is_created, name_of, own_part, plan_of, set_plan
from lightwell.model.layers.naming import snake_case
from lightwell.model.layers.record import pass_loss

_v1 = tf.compat.v1


def patch_optimizers(keras: Any, patches: Patches) -> None:
    """Lets the optimizers of Keras 3 name their slots after the variables they serve."""
    patches.wrap(keras.optimizers.Optimizer, "add_variable_from_reference", _wrapped_add_slot)
    if hasattr(keras.optimizers.Optimizer, private_keras.SUM_OVER_REPLICAS):
        patches.wrap(keras.optimizers.Optimizer, private_keras.SUM_OVER_REPLICAS, _wrapped_sum)


def _wrapped_add_slot(original: Any) -> Any:
    @functools.wraps(original)
    def add_slot(self: Any, reference_variable: Any, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        slot = original(self, reference_variable, name, *args, **kwargs)
        trace = active_trace()
        if trace is not None:
            served, plan = name_of(_tf_variable(trace, reference_variable)), plan_of(slot)
            if plan is not None:
                set_plan(slot, plan.initializer, is_local=False, name=f"{served}/{self.name}/{name or 'var'}")
        return slot

    return add_slot


def _wrapped_sum(original: Any) -> Any:
    """Skips the sum if there is one replica: the sum defines its own gradient, so TensorFlow would never free the
    graph."""

    @functools.wraps(original)
    def sum_over_replicas(self: Any, grads_and_vars: Any) -> Any:
        if active_trace() is None or tf.distribute.has_strategy():
            return original(self, grads_and_vars)
        return list(grads_and_vars)

    return sum_over_replicas


def keras_train_op(
    trace: KerasTrace, optimizer: Any, loss: Any, variables: Sequence[Any] | None, global_step: Any
) -> tf.Operation:
    """The operation that computes the gradients of `loss`, updates `variables` and counts `global_step`.

    Args:
        trace: the trace of this graph.
        optimizer: a Keras 3 optimizer; one from outside `model_fn` is copied.
        loss: a scalar tensor.
        variables: what to train; None for all trainable variables of the graph.
        global_step: the variable to count in, or None to count in a variable of the optimizer's own.

    Raises:
        ModelFnError: there is nothing to train, or the optimizer cannot be used in this graph.
    """
    loss = pass_loss(loss)
    if variables is None:
        variables = trace.graph.get_collection(_v1.GraphKeys.TRAINABLE_VARIABLES)
    with tf.name_scope(f"{optimizer.name}/"):
        pairs = _connected(loss, [_tf_variable(trace, variable) for variable in variables], optimizer.name)
    targets = [variable for _, variable in pairs]
    optimizer = _prepared(trace, optimizer, targets, global_step)
    with tf.name_scope(f"{optimizer.name}/"), running("compute_gradients"):
        scaled = optimizer.scale_loss(loss)
        gradients = [gradient for gradient, _ in pairs] if scaled is loss else tf.gradients(scaled, targets)
    return _update(trace, optimizer, gradients, targets, global_step)


def apply_keras_gradients(trace: KerasTrace, optimizer: Any, pairs: Iterable[tuple[Any, Any]]) -> tf.Operation:
    """The operation that updates variables by gradients the user computed: (gradient, variable) pairs."""
    known = [(gradient, _tf_variable(trace, variable)) for gradient, variable in pairs if gradient is not None]
    targets = [variable for _, variable in known]
    optimizer = _prepared(trace, optimizer, targets, None)
    return _update(trace, optimizer, [gradient for gradient, _ in known], targets, None)


def _connected(loss: Any, targets: list[Any], optimizer_name: str) -> list[tuple[Any, Any]]:
    """(gradient, variable) of what the loss depends on; as with a v1 optimizer, the others are left alone."""
    gradients = tf.gradients(loss, targets) if targets else []
    connected = [pair for pair in zip(gradients, targets, strict=True) if pair[0] is not None]
    if not connected:
        raise ModelFnError(
            f"minimize: the loss {loss.name!r} depends on none of the variables "
            f"{[name_of(variable) for variable in targets]}, so {optimizer_name!r} has nothing to train. Compute the "
            "loss from the outputs of trainable layers."
        )
    return connected


def _prepared(trace: KerasTrace, optimizer: Any, targets: list[Any], global_step: Any) -> Any:
    """The optimizer, or its copy in this graph, with its variables created: the update may not create any."""
    optimizer = _of_this_graph(trace, optimizer)
    trace.optimizer_being_built = optimizer.name
    try:
        optimizer.build([_keras_variable(trace, variable) for variable in targets])
    finally:
        trace.optimizer_being_built = None
    for part in _parts(optimizer):
        for variable in part.variables:
            plan = plan_of(variable)
            if plan is not None and plan.name is None:
                name = f"{OPTIMIZER_SCOPE}{part.name}/{variable.name}"
                set_plan(variable, plan.initializer, is_local=variable.name == "learning_rate", name=name)
    if _counts_in(optimizer, global_step):
        count_in(optimizer, global_step)
    for variable in _used_variables(optimizer):
        ensure_created(trace, variable)
    return optimizer


def count_in(optimizer: Any, global_step: Any) -> None:
    """Lets the optimizer count its updates in the global step, which schedules of the learning rate then follow."""
    private_keras.set_tf_variable(private_keras.iterations(optimizer), global_step)


def _of_this_graph(trace: KerasTrace, optimizer: Any) -> Any:
    if optimizer.built and all(is_created(trace, variable) for variable in _used_variables(optimizer)):
        raise ModelFnError(
            f"The Keras optimizer {optimizer.name!r} makes two updates in one model_fn; TensorFlow would run them in "
            "any order. Add the losses up, or create an optimizer for each."
        )
    if not optimizer.built and all(plan_of(v) or is_created(trace, v) for v in optimizer.variables):
        return optimizer
    return copied(optimizer)


def copied(optimizer: Any) -> Any:
    """An optimizer with the same settings and no state.

    An automatic name of Keras has a number that depends on earlier optimizers of the program; the copy's has none.

    Raises:
        ModelFnError: it cannot be created from its own settings.
    """
    try:
        config = outside_the_graph(lambda: private_keras.optimizer_settings(optimizer))
        return type(optimizer).from_config({**config, **_own_name(optimizer)})
    except Exception as error:
        raise ModelFnError(
            f"minimize: the optimizer {optimizer.name!r} was made for another graph and cannot be copied "
            f"({type(error).__name__}: {error}). Create it inside model_fn, or let from_config(get_config()) of "
            f"{type(optimizer).__name__} make it."
        ) from error


def _own_name(optimizer: Any) -> dict[str, str]:
    kind = snake_case(type(optimizer).__name__)
    return {"name": kind} if re.fullmatch(rf"{re.escape(kind)}_\d+", optimizer.name) else {}


def _used_variables(optimizer: Any) -> list[Any]:
    """All variables but the count and the rate of an optimizer that wraps another: it has them and uses neither."""
    idle = ("iteration", "learning_rate") if len(_parts(optimizer)) > 1 else ()
    inner = {id(variable) for part in _parts(optimizer)[:-1] for variable in part.variables}
    return [v for v in optimizer.variables if id(v) in inner or v.name not in idle]


def _parts(optimizer: Any) -> list[Any]:
    """The optimizer and what it wraps, innermost first."""
    inner = getattr(optimizer, "inner_optimizer", None)
    return [optimizer] if inner is None else [*_parts(inner), optimizer]


def _counts_in(optimizer: Any, global_step: Any) -> bool:
    """Whether the global step takes the place of the optimizer's own count; a wrapper skips steps, so it keeps both."""
    return global_step is not None and len(_parts(optimizer)) == 1 and not _is_reference(global_step)


def _is_reference(variable: Any) -> bool:
    """Whether a variable is one of references, which Keras cannot read, and functions cannot assign."""
    return bool(variable.dtype != variable.dtype.base_dtype)


def _update(
    trace: KerasTrace, optimizer: Any, gradients: list[Any], targets: list[Any], global_step: Any
) -> tf.Operation:
    if tf.distribute.get_strategy().num_replicas_in_sync > 1 and private_tf.parts_of(targets[0])[0] is targets[0]:
        raise ModelFnError(
            f"minimize: the Keras optimizer {optimizer.name!r} cannot be used under "
            f"{type(tf.distribute.get_strategy()).__name__}, whose replicas share their variables: each would update "
            "them. Use tf.distribute.MirroredStrategy, or an optimizer of tf.compat.v1.train."
        )
    gradients = _of_all_replicas(pass_gradients(gradients, targets))
    trained = [_keras_variable(trace, variable) for variable in targets]
    left_to_count = None if _counts_in(optimizer, global_step) else global_step

    def update(values: list[Any]) -> Any:
        with _as_one_replica(optimizer, [*trained, *optimizer.variables]):
            with trace.optimizing(), comparing():
                optimizer.apply(values, trained)
            if left_to_count is not None and not _is_reference(left_to_count):
                own_part(left_to_count).assign_add(1)
        return tf.constant(0)

    with tf.name_scope(f"{optimizer.name}/"):
        rates = []
        with contextlib.suppress(AttributeError):  # several optimizers in one have no single rate
            rates = [tf.identity(optimizer.learning_rate, name="learning_rate")]
            collect(LEARNING_RATE_COLLECTION, rates[0])
        # The runtime inlines the function, so its writes would wait only for their inputs: the count must not rise
        # before the rate is read and the gradients are computed, which may depend on it.
        with tf.control_dependencies([tf.group(*rates, *gradients, name="ready")]):
            updated = tf.function(update, autograph=False)(gradients)
        with tf.control_dependencies([updated]):
            if left_to_count is not None and _is_reference(left_to_count):
                return tf.group(left_to_count.assign_add(1, read_value=False), name="update")
            return tf.no_op(name="update")


def _of_all_replicas(gradients: list[Any]) -> list[Any]:
    """The mean of the gradients of all replicas, as in optimizers of TensorFlow 1; the same in each replica."""
    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync == 1:
        return gradients
    dense = [tf.convert_to_tensor(gradient) for gradient in gradients]
    return list(replica.all_reduce(tf.distribute.ReduceOp.MEAN, dense))


@contextlib.contextmanager
def _as_one_replica(optimizer: Any, variables: Iterable[Any]) -> Iterator[None]:
    """Inside the block Keras variables are backed by this replica's own variables, outside of any strategy.

    The gradients are the same in all replicas, and every replica makes the same step.
    """
    if tf.distribute.get_strategy().num_replicas_in_sync == 1:
        yield
        return
    backing = {
        id(one): (one, private_keras.tf_variable_of(one)) for one in variables if not isinstance(one, tf.Variable)
    }
    for variable, value in backing.values():
        if value is not None:
            private_keras.set_tf_variable(variable, own_part(value))
    try:
        with (
            private_strategies.outside_strategies(),
            private_keras.with_strategy(_parts(optimizer), tf.distribute.get_strategy()),
        ):
            yield
    finally:
        for variable, value in backing.values():
            private_keras.set_tf_variable(variable, value)


def _tf_variable(trace: KerasTrace, variable: Any) -> Any:
    if isinstance(variable, tf.Variable):
        return variable
    ensure_created(trace, variable)
    return private_keras.tf_variable_of(variable)


def _keras_variable(trace: KerasTrace, variable: Any) -> Any:
    """The Keras variable of a TensorFlow variable, because optimizers use attributes that only Keras variables have.

    It is the one that Keras created, which has its constraint, or a wrapper. A reference variable is returned as it is.
    """
    if id(variable) not in trace.created:
        if not hasattr(private_tf.parts_of(variable)[0], "handle"):
            return variable
        trace.created[id(variable)] = (variable, private_keras.wrap_tf_variable(private_keras.keras3(), variable))
    return trace.created[id(variable)][1]
