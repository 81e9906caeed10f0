"""What Lightwell needs of Keras that has no public door. Nothing else in the package reaches behind `keras.*`.

Each entry says why it is needed. A release of Keras that lacks one of them is left alone, as if it were not loaded: its
layers then work as Keras has them, which is told in one warning.
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

from lightwell import _tf
from lightwell._probes import lacking, tell_once

# Methods of a Keras variable that are replaced while model_fn runs: when it gets its value, and how it is assigned.
DEFERRED_INITIALIZE = "_deferred_initialize"
DIRECT_ASSIGN = "_direct_assign"
# The method in which an optimizer adds up the gradients of all replicas.
SUM_OVER_REPLICAS = "_all_reduce_sum_gradients"
_LEFT_ALONE = (
    "Keras layers work in model_fn as Keras has them: variables have Keras' own names, moving statistics are not "
    "updated, losses of layers are not collected, and layers have no path. Use an older Keras, or tf.compat.v1.layers."
)


def keras3() -> Any:
    """The Keras 3 package if the program has loaded it with the TensorFlow backend, else None. Imports nothing.

    Also None for one that does not have what is needed here.
    """
    keras = _loaded_keras3()
    return None if keras is None or _missing_in_keras3(keras) else keras


def legacy_keras() -> Any:
    """The same for the `tf_keras` package."""
    keras = sys.modules.get("tf_keras")
    return None if keras is None or _missing_in_legacy(keras) else keras


def is_legacy_loaded() -> bool:
    """Whether the program has loaded `tf_keras`, whatever it has."""
    return "tf_keras" in sys.modules


def _loaded_keras3() -> Any:
    keras = sys.modules.get("keras")
    if not str(getattr(keras, "__version__", "")).startswith("3."):
        return None
    return keras if keras is not None and keras.config.backend() == "tensorflow" else None


@functools.cache
def _missing_in_keras3(keras: Any) -> tuple[str, ...]:
    """What Keras 3 lacks of all that is reached for, here and by what is replaced while model_fn runs; told once."""
    missing: list[str] = []
    try:
        missing += lacking(_global_state(), ["get_global_attribute", "set_global_attribute"])
    except ImportError as error:
        missing.append(str(error.name))
    kept = ("_value", "_dtype", "_initialize", "value", DEFERRED_INITIALIZE, DIRECT_ASSIGN)
    missing += lacking(variable_class(keras), kept, "Variable")
    missing += lacking(keras.layers.Layer, ["add_loss", "trainable_weights", "weights"])
    if not hasattr(keras.layers.Layer, "path"):
        missing += lacking(keras.layers.Layer, ["_parent_path"])
    missing += lacking(keras.optimizers.Optimizer, ["add_variable_from_reference", "apply", "apply_gradients"])
    missing += lacking(keras.random.SeedGenerator, ["next", "state"])
    missing += lacking(keras.metrics.Metric, ["add_variable"])
    if not missing:
        with keras.StatelessScope():
            missing += [] if only_infers_shapes() else ["global state 'stateless_scope'"]
    if missing:
        tell_once(f"Keras {keras.__version__}", tuple(missing), _LEFT_ALONE)
    return tuple(missing)


@functools.cache
def _missing_in_legacy(keras: Any) -> tuple[str, ...]:
    """The same for `tf_keras`."""
    try:
        missing = lacking(legacy_layer_classes(keras)[1], ["_updates", "add_loss", "add_update", "add_weight"])
    except (AttributeError, ImportError) as error:
        missing = [str(error.name)]
    missing += lacking(keras.optimizers.Optimizer, ["_learning_rate"])
    if missing:
        tell_once(f"tf_keras {keras.__version__}", tuple(missing), _LEFT_ALONE)
    return tuple(missing)


def legacy_history(tensor: Any) -> Any:
    """Which layer made a tensor while a model was described; there is no public sign of it. None for other tensors."""
    return getattr(tensor, "_keras_history", None)


def legacy_layer_classes(keras: Any) -> tuple[Any, Any]:
    """The class of layers, and the one that takes its place for layers made in a graph."""
    return keras.layers.Layer, importlib.import_module("tf_keras.src.engine.base_layer_v1").Layer


def legacy_updates(layer: Any) -> list[Any]:
    """The updates of one layer; the public `layer.updates` mixes in those of the layers it holds."""
    return list(getattr(layer, "_updates", ()))


def legacy_rate(optimizer: Any) -> Any:
    """The learning rate as given; `optimizer.learning_rate` is the variable that holds a schedule's current value."""
    return optimizer._learning_rate


def unused_legacy_copy(optimizer: Any) -> Any:
    """A copy of an optimizer of `tf_keras.optimizers.legacy`, with all that a subclass holds and no counter; None if
    the optimizer has variables of its own. Its public door, `from_config`, knows only what `get_config` tells."""
    own = vars(optimizer)
    if own.get("_hypers_created") or own.get("_slots") or "_iterations" not in own:
        return None
    made = copy.copy(optimizer)
    for name, value in own.items():
        if isinstance(value, dict | list):
            vars(made)[name] = copy.copy(value)
    vars(made).update(_iterations=None, _weights=[])
    return made


def tell_legacy_counter(optimizer: Any, counter: Any) -> None:
    """Lets `optimizer.iterations` be `counter`; the public setter takes one only once."""
    vars(optimizer).update(_iterations=counter, _weights=[counter])


def variable_class(keras: Any) -> Any:
    """The class behind every Keras variable: `keras.Variable` is a subclass that old releases do not use themselves."""
    return keras.Variable.__mro__[1]


def loss_module(keras: Any) -> Any:
    """The module of the class `Loss`, whose functions divide losses by the number of replicas."""
    return sys.modules[keras.losses.Loss.__module__]


def _global_state() -> Any:
    return importlib.import_module("keras.src.backend.common.global_state")


@contextlib.contextmanager
def fresh_counters() -> Iterator[None]:
    """Names and the default random generator start over inside the block, and go on outside where they were.

    The public `keras.utils.clear_session` forgets the user's own counters, and resets TensorFlow's default graph.
    """
    with _fresh_state() if counts_names_anew() else contextlib.nullcontext():
        yield


def counts_names_anew() -> bool:
    """Whether names start over in `fresh_counters`."""
    keras = _loaded_keras3()
    return keras is not None and _can_count_anew(keras)


@functools.cache
def _can_count_anew(keras: Any) -> bool:
    """Asks Keras for a name in two blocks, where each must be the first of its kind; if not, that is told."""
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
        tell_once(f"Keras {keras.__version__}", tuple(missing), loss)
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
    """Whether Keras is running a layer to learn the shape of its output: there is no other sign of it."""
    return _global_state().get_global_attribute("stateless_scope") is not None


def keras_path(layer: Any) -> str:
    """What the Keras paths of the layer's variables start with; releases before `Layer.path` keep only the parent's."""
    path = getattr(layer, "path", None)
    if path:
        return str(path)
    parent = getattr(layer, "_parent_path", None)
    return f"{parent}/{layer.name}" if parent else str(layer.name)


def random_initializer_class(keras: Any) -> Any:
    """The class behind every random initializer, which takes or draws its seed."""
    return keras.initializers.RandomNormal.__mro__[1]


def stored_dtype(variable: Any) -> Any:
    """The dtype a Keras variable is kept in; `variable.dtype` is the one it is cast to just now."""
    return variable._dtype


def held_value(variable: Any) -> Any:
    """The TensorFlow variable that a Keras variable stands for; `variable.value` may be a cast of it, or a tensor."""
    return variable._value


def hold_value(variable: Any, value: Any) -> None:
    """Makes a Keras variable stand for another TensorFlow variable."""
    variable._value = value


def stand_in(keras: Any, tf_variable: Any) -> Any:
    """A Keras variable for a TensorFlow variable that Keras did not make; it cannot be told its path in public."""
    dtype, name = tf_variable.dtype.base_dtype.name, _tf.variable_name(tf_variable)
    made = keras.Variable(keras.initializers.Zeros(), tuple(tf_variable.shape), dtype, name=name.rpartition("/")[2])
    made._path = name
    made.constraint = tf_variable.constraint
    hold_value(made, tf_variable)
    return made


def compile_arguments(model: Any) -> dict[str, Any]:
    """What a model of Keras 3 was compiled with, as it was given; the public `get_compile_config` serialises it."""
    kept = getattr(model, "_compile_config", None)
    given = {} if kept is None else dict(kept.config)
    return {name: given.get(name) for name in ("loss", "loss_weights", "metrics", "weighted_metrics")}


def legacy_compile_arguments(model: Any) -> dict[str, Any]:
    """The same for a model of `tf_keras`, which tells it nowhere in public."""
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
    """Whether a model of `tf_keras` is a chart of layers, and not code that calls some."""
    return bool(getattr(model, "_is_graph_network", False))


def forget_losses(model: Any) -> None:
    """Lets go of the losses that the layers added in their last call, which are tensors of a graph."""
    model._clear_losses()


def create_value(variable: Any, initial_value: Any) -> None:
    """Lets Keras create the TensorFlow variable, with the dtype, aggregation and synchronisation it wants."""
    variable._initialize(initial_value)


def replace_initializer(tf_variable: Any, operation: Any) -> None:
    """Gives a TensorFlow variable another first value; `tf.compat.v1.train.init_from_checkpoint` does it this way."""
    tf_variable._initializer_op = operation


@contextlib.contextmanager
def told_of_strategy(optimizers: Iterable[Any], strategy: Any) -> Iterator[None]:
    """Inside the block, optimizers take `strategy` for the one they work under: they ask only when they are made."""
    name = "_distribution_strategy"
    before = [(optimizer, vars(optimizer)[name]) for optimizer in optimizers if name in vars(optimizer)]
    for optimizer, _ in before:
        setattr(optimizer, name, strategy)
    try:
        yield
    finally:
        for optimizer, known in before:
            setattr(optimizer, name, known)


def optimizer_settings(optimizer: Any) -> dict[str, Any]:
    """The settings of an optimizer, with a schedule of the learning rate as the object that it is.

    The public `get_config` serialises it, which a schedule of the user's own class need not be able to.
    """
    rate = vars(optimizer).get("_learning_rate")
    if not callable(rate) or isinstance(rate, variable_class(keras3())):
        return dict(optimizer.get_config())
    vars(optimizer)["_learning_rate"] = None
    try:
        return {**optimizer.get_config(), "learning_rate": rate}
    finally:
        vars(optimizer)["_learning_rate"] = rate


def iterations(optimizer: Any) -> Any:
    """The variable an optimizer counts its updates in; `optimizer.iterations` may be a quotient of it.

    Early releases have the public attribute alone.
    """
    return vars(optimizer).get("_iterations", vars(optimizer).get("iterations"))


def layers_in(layer: Any) -> list[Any]:
    """All layers that a layer of Keras 3 holds, at any depth; only models have a public list of theirs."""
    held = list(getattr(layer, "_layers", ()))
    return held + [inner for part in held for inner in layers_in(part)]


def lambda_output_shape(layer: Any) -> Any:
    """The shape that a `Lambda` layer was told; it is given back in public only in a form for saving."""
    return getattr(layer, "_output_shape", None)


def operation_behind(tensor: Any) -> tuple[Any, list[Any]]:
    """The operation that gave a Keras tensor, and the Keras tensors it took; `keras.ops` takes no names for them."""
    operation, node, _ = tensor._keras_history
    return operation, list(operation._inbound_nodes[node].input_tensors)
