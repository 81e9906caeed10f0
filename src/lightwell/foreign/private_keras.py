"""Private doors of Keras 3 and `tf_keras`: what Lightwell needs that has no public API.

Each docstring says why the door is needed. A release that lacks a required name is treated as not loaded: its layers
work as Keras wrote them, and one warning says so.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import importlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.foreign.probes import missing_attributes, warn_once

# Methods of a Keras variable that are patched while model_fn runs: its initialization and its assignment.
DEFERRED_INITIALIZE = "_deferred_initialize"
DIRECT_ASSIGN = "_direct_assign"
# Where a layer stores the name that the program chose, if Keras 3 refuses it for a slash.
OLD_NAME = "_keras2_name"
# The method in which an optimizer sums the gradients of all replicas.
SUM_OVER_REPLICAS = "_all_reduce_sum_gradients"
_UNSUPPORTED = (
    "Keras layers work in model_fn as Keras has them: variables have Keras' own names, moving statistics are not "
    "updated, losses of layers are not collected, and layers have no path. Use an older Keras, or tf.compat.v1.layers."
)


def keras3() -> Any:
    """The Keras 3 package if the program has loaded it with the TensorFlow backend, else None. Imports nothing.

    None also for a release that lacks a required name.
    """
    keras = _loaded_keras3()
    return None if keras is None or _missing_in_keras3(keras) else keras


def legacy_keras() -> Any:
    """The same for the `tf_keras` package."""
    keras = sys.modules.get("tf_keras")
    return None if keras is None or _missing_in_legacy(keras) else keras


def is_legacy_loaded() -> bool:
    """Whether the program has loaded `tf_keras`, with or without the required names."""
    return "tf_keras" in sys.modules


def _loaded_keras3() -> Any:
    keras = sys.modules.get("keras")
    if not str(getattr(keras, "__version__", "")).startswith("3."):
        return None
    return keras if keras is not None and keras.config.backend() == "tensorflow" else None


@functools.cache
def _missing_in_keras3(keras: Any) -> tuple[str, ...]:
    """The required private names that Keras 3 lacks; warns once."""
    missing: list[str] = []
    try:
        missing += missing_attributes(_global_state(), ["get_global_attribute", "set_global_attribute"])
    except ImportError as error:
        missing.append(str(error.name))
    members = ("_value", "_dtype", "_initialize", "value", DEFERRED_INITIALIZE, DIRECT_ASSIGN)
    missing += missing_attributes(variable_class(keras), members, "Variable")
    missing += missing_attributes(keras.layers.Layer, ["add_loss", "trainable_weights", "weights"])
    if not hasattr(keras.layers.Layer, "path"):
        missing += missing_attributes(keras.layers.Layer, ["_parent_path"])
    missing += missing_attributes(
        keras.optimizers.Optimizer, ["add_variable_from_reference", "apply", "apply_gradients"]
    )
    missing += missing_attributes(keras.random.SeedGenerator, ["next", "state"])
    missing += missing_attributes(keras.metrics.Metric, ["add_variable"])
    if not missing:
        with keras.StatelessScope():
            missing += [] if only_infers_shapes() else ["global state 'stateless_scope'"]
    if missing:
        warn_once(f"Keras {keras.__version__}", tuple(missing), _UNSUPPORTED)
    return tuple(missing)


@functools.cache
def _missing_in_legacy(keras: Any) -> tuple[str, ...]:
    """The same for `tf_keras`."""
    try:
        missing = missing_attributes(
            legacy_layer_classes(keras)[1], ["_updates", "add_loss", "add_update", "add_weight"]
        )
    except (AttributeError, ImportError) as error:
        missing = [str(error.name)]
    missing += missing_attributes(keras.optimizers.Optimizer, ["_learning_rate"])
    if missing:
        warn_once(f"tf_keras {keras.__version__}", tuple(missing), _UNSUPPORTED)
    return tuple(missing)


def legacy_history(tensor: Any) -> Any:
    """The layer call that produced a tensor of a functional model; None for other tensors. It is stored privately."""
    return getattr(tensor, "_keras_history", None)


def legacy_layer_classes(keras: Any) -> tuple[Any, Any]:
    """The class of layers, and the class that replaces it for layers created in a graph."""
    return keras.layers.Layer, importlib.import_module("tf_keras.src.engine.base_layer_v1").Layer


def legacy_updates(layer: Any) -> list[Any]:
    """The updates of one layer; the public `layer.updates` includes those of its sublayers."""
    return list(getattr(layer, "_updates", ()))


def legacy_rate(optimizer: Any) -> Any:
    """The learning rate or schedule; `optimizer.learning_rate` is the variable with a schedule's current value."""
    return optimizer._learning_rate


def copy_unused_legacy(optimizer: Any) -> Any:
    """A copy of an optimizer of `tf_keras.optimizers.legacy`, with the attributes of a subclass and without a counter.

    None if the optimizer has variables already. The public `from_config` copies only what `get_config` returns.
    """
    own = vars(optimizer)
    if own.get("_hypers_created") or own.get("_slots") or "_iterations" not in own:
        return None
    duplicate = copy.copy(optimizer)
    for name, value in own.items():
        if isinstance(value, dict | list):
            vars(duplicate)[name] = copy.copy(value)
    vars(duplicate).update(_iterations=None, _weights=[])
    return duplicate


def set_legacy_counter(optimizer: Any, counter: Any) -> None:
    """Sets `optimizer.iterations`; the public setter works only once."""
    vars(optimizer).update(_iterations=counter, _weights=[counter])


def variable_class(keras: Any) -> Any:
    """The base class of every Keras variable: old releases do not use its public subclass `keras.Variable`."""
    return keras.Variable.__mro__[1]


def loss_module(keras: Any) -> Any:
    """The module of the class `Loss`, whose functions divide losses by the number of replicas."""
    return sys.modules[keras.losses.Loss.__module__]


def _global_state() -> Any:
    return importlib.import_module("keras.src.backend.common.global_state")


@contextlib.contextmanager
def fresh_counters() -> Iterator[None]:
    """Keras' name counters and default random generator restart inside the block, and continue after it.

    The public `keras.utils.clear_session` also clears the user's counters, and resets TensorFlow's default graph.
    """
    with _fresh_state() if can_restart_counters() else contextlib.nullcontext():
        yield


def can_restart_counters() -> bool:
    """Whether `fresh_counters` works with this Keras."""
    keras = _loaded_keras3()
    return keras is not None and _keras_restarts_counters(keras)


@functools.cache
def _keras_restarts_counters(keras: Any) -> bool:
    """Whether a name is the first of its kind in each of two blocks; warns if not."""
    try:
        counts = []
        for _ in range(2):
            with _fresh_state():
                counts.append(keras.backend.get_uid("lightwell"))
        missing = [] if counts == [1, 1] else ["global state 'object_name_uids'"]
    except (AttributeError, ImportError) as error:
        missing = [str(error.name)]
    if missing:
        loss = "Keras layers that model_fn names as Keras would, as in name='dense_5', are numbered anew."
        warn_once(f"Keras {keras.__version__}", tuple(missing), loss)
    return not missing


@contextlib.contextmanager
def _fresh_state() -> Iterator[None]:
    state = _global_state()
    fresh: dict[str, Any] = {"object_name_uids": collections.defaultdict(int), "global_seed_generator": None}
    before = {name: state.get_global_attribute(name) for name in fresh}
    for name, value in fresh.items():
        state.set_global_attribute(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            state.set_global_attribute(name, value)


def only_infers_shapes() -> bool:
    """Whether Keras is running a layer to infer its output shape; there is no public sign of it."""
    return _global_state().get_global_attribute("stateless_scope") is not None


def keras_path(layer: Any) -> str:
    """The prefix of the Keras paths of the layer's variables; releases without `Layer.path` store the parent's path."""
    path = getattr(layer, "path", None)
    if path:
        return str(path)
    parent = getattr(layer, "_parent_path", None)
    return f"{parent}/{layer.name}" if parent else str(layer.name)


def random_initializer_class(keras: Any) -> Any:
    """The base class of every random initializer, which sets its seed."""
    return keras.initializers.RandomNormal.__mro__[1]


def stored_dtype(variable: Any) -> Any:
    """The dtype that a Keras variable is stored in; `variable.dtype` is the one of the current autocast scope."""
    return variable._dtype


def tf_variable_of(variable: Any) -> Any:
    """The TensorFlow variable of a Keras variable; `variable.value` may be a cast of it, or a tensor."""
    return variable._value


def set_tf_variable(variable: Any, value: Any) -> None:
    """Replaces the TensorFlow variable of a Keras variable."""
    variable._value = value


def wrap_tf_variable(keras: Any, tf_variable: Any) -> Any:
    """A Keras variable for a TensorFlow variable that Keras did not create; its path cannot be set in public."""
    dtype, name = tf_variable.dtype.base_dtype.name, private_tf.variable_name(tf_variable)
    wrapper = keras.Variable(keras.initializers.Zeros(), tuple(tf_variable.shape), dtype, name=name.rpartition("/")[2])
    wrapper._path = name
    wrapper.constraint = tf_variable.constraint
    set_tf_variable(wrapper, tf_variable)
    return wrapper


def compile_arguments(model: Any) -> dict[str, Any]:
    """The arguments of `compile` of a Keras 3 model, as objects; the public `get_compile_config` serialises them."""
    stored = getattr(model, "_compile_config", None)
    arguments = {} if stored is None else dict(stored.config)
    return {name: arguments.get(name) for name in ("loss", "loss_weights", "metrics", "weighted_metrics")}


def legacy_compile_arguments(model: Any) -> dict[str, Any]:
    """The same for a model of `tf_keras`, which stores them privately."""
    losses, metrics = model.compiled_loss, model.compiled_metrics
    return {
        "loss": losses._user_losses,
        "loss_weights": losses._user_loss_weights,
        "metrics": metrics._user_metrics,
        "weighted_metrics": metrics._user_weighted_metrics,
    }


def is_compiled(model: Any) -> bool:
    """Whether a model was compiled; `tf_keras` has no public sign of it."""
    return bool(getattr(model, "compiled", getattr(model, "_is_compiled", False)))


def legacy_is_functional(model: Any) -> bool:
    """Whether a model of `tf_keras` is functional, and not a subclass with its own `call`."""
    return bool(getattr(model, "_is_graph_network", False))


def clear_losses(model: Any) -> None:
    """Clears the losses that the layers added in their last call, because they are tensors of a graph."""
    model._clear_losses()


def create_value(variable: Any, initial_value: Any) -> None:
    """Lets Keras create the TensorFlow variable, with its own dtype, aggregation and synchronisation.

    A variable of references, which `disable_v2_behavior` brings back, has a dtype that Keras refuses.
    """
    with tf.variable_creator_scope(lambda make, **kwargs: make(**{**kwargs, "use_resource": True})):
        variable._initialize(initial_value)


def replace_initializer(tf_variable: Any, operation: Any) -> None:
    """Replaces the initializer of a TensorFlow variable; `tf.compat.v1.train.init_from_checkpoint` does the same."""
    tf_variable._initializer_op = operation


@contextlib.contextmanager
def with_strategy(optimizers: Iterable[Any], strategy: Any) -> Iterator[None]:
    """Inside the block, optimizers work under `strategy`; they look up the strategy only in their constructor."""
    name = "_distribution_strategy"
    before = [(optimizer, vars(optimizer)[name]) for optimizer in optimizers if name in vars(optimizer)]
    for optimizer, _ in before:
        setattr(optimizer, name, strategy)
    try:
        yield
    finally:
        for optimizer, previous in before:
            setattr(optimizer, name, previous)


def optimizer_settings(optimizer: Any) -> dict[str, Any]:
    """The settings of an optimizer, with a learning rate schedule as an object.

    The public `get_config` serialises the schedule, which may fail for a user's own class.
    """
    rate = vars(optimizer).get("_learning_rate")
    if isinstance(rate, variable_class(keras3())):
        if is_eager(tf_variable_of(rate)):
            return dict(optimizer.get_config())
        rate = _first_value(rate)
    elif not callable(rate):
        return dict(optimizer.get_config())
    before = vars(optimizer)["_learning_rate"]
    vars(optimizer)["_learning_rate"] = None
    try:
        return {**optimizer.get_config(), "learning_rate": rate}
    finally:
        vars(optimizer)["_learning_rate"] = before


def is_eager(variable: Any) -> bool:
    """Whether a TensorFlow variable has a value outside of any session; None, not created yet, counts as one."""
    return variable is None or getattr(getattr(variable, "handle", variable), "graph", None) is None


def _first_value(rate: Any) -> float:
    """The number that the learning rate of an optimizer from a graph was created with; its value is in no session.

    Raises:
        ValueError: it was not a number.
    """
    value = tf.get_static_value(tf_variable_of(rate).initial_value)
    if value is None:
        raise ValueError("its learning rate is computed in another graph")
    return float(value)


def iterations(optimizer: Any) -> Any:
    """The variable in which an optimizer counts its updates; `optimizer.iterations` may be a quotient of it.

    Early releases have the public attribute only.
    """
    return vars(optimizer).get("_iterations", vars(optimizer).get("iterations"))


def layers_in(layer: Any) -> list[Any]:
    """All sublayers of a layer of Keras 3, at any depth; only models have a public list."""
    children = list(getattr(layer, "_layers", ()))
    return children + [inner for child in children for inner in layers_in(child)]


def chosen_name(layer: Any) -> str:
    """The name that the program chose for a layer: Keras 3 itself refuses a slash, which old checkpoints may have."""
    return str(vars(layer).get(OLD_NAME) or layer.name)


def lambda_output_shape(layer: Any) -> Any:
    """The `output_shape` argument of a `Lambda` layer; it is public only in serialised form."""
    return getattr(layer, "_output_shape", None)


def operation_behind(tensor: Any) -> tuple[Any, list[Any]]:
    """The operation that produced a Keras tensor, and its input Keras tensors; both are stored privately."""
    operation, node, _ = tensor._keras_history
    return operation, list(operation._inbound_nodes[node].input_tensors)
