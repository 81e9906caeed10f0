"""Private doors of TensorFlow: what Lightwell needs that has no public API.

Each docstring says why the door is needed. If a release lacks it, one warning says which feature is lost; the rest
works.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lightwell.foreign.probes import missing_attributes, warn_once

_CALLING_THREAD = -1  # of RunOptions.inter_op_thread_pool: run ops in the calling thread


def release() -> str:
    """The installed TensorFlow with its version, for warnings."""
    import tensorflow as tf

    return f"TensorFlow {tf.__version__}"


def parts_of(variable: Any) -> tuple[Any, ...]:
    """The variables of the replicas of a strategy, in order; the variable itself if all replicas share it.

    A distributed variable works only inside its strategy, and computes its value on the lookup of unknown attributes.
    """
    import tensorflow as tf

    return tuple(variable.values) if isinstance(variable, tf.distribute.DistributedValues) else (variable,)


def variable_name(variable: Any) -> str:
    """The name of a variable in the graph, the same for every replica."""
    return str(parts_of(variable)[0].op.name)


def whole_variable(variable: Any) -> tuple[str, tuple[int, ...]]:
    """Name and shape of a variable in a checkpoint: for a part of a partitioned variable, those of the whole.

    A size that the graph does not know is 0. A part stores the name of its whole for `Saver`, in a private attribute.
    """
    variable = parts_of(variable)[0]
    missing = missing_attributes(variable, ["_save_slice_info"])
    if missing:
        warn_once(release(), tuple(missing), "A partitioned variable is shown as its parts.")
    part = getattr(variable, "_save_slice_info", None)
    if part is not None:
        return part.full_name, tuple(int(size) for size in part.full_shape)
    sizes = [0] if variable.shape.rank is None else variable.shape.as_list()
    return variable.op.name, tuple(int(size or 0) for size in sizes)


def slice_in_whole(variable: Any) -> tuple[slice, ...]:
    """The slice of the whole that a part of a partitioned variable covers; empty for a variable that is no part.

    TensorFlow stores it in a private attribute.
    """
    part = getattr(parts_of(variable)[0], "_save_slice_info", None)
    if part is None:
        return ()
    return tuple(slice(start, start + size) for start, size in zip(part.var_offset, part.var_shape, strict=True))


def feature_columns() -> Any:
    """The classes behind `tf.feature_column`: `FeatureColumn`, `DenseColumn`, `SequenceDenseColumn` and the
    `FeatureTransformationCache` that a column reads its features from.

    `DenseFeatures` and `SequenceFeatures` need the classes to tell columns apart and to pass them that cache;
    TensorFlow exports them under a private name.

    Raises:
        NotImplementedError: this TensorFlow lacks them, so there are no such layers.
    """
    import tensorflow as tf

    module = getattr(getattr(tf, "__internal__", None), "feature_column", None)
    classes = ("DenseColumn", "FeatureColumn", "FeatureTransformationCache", "SequenceDenseColumn")
    missing = missing_attributes(module, classes, "tf.__internal__.feature_column")
    if missing:
        raise NotImplementedError(
            f"{release()} has no {', '.join(missing)}, which DenseFeatures and SequenceFeatures are made of. Use an "
            "older TensorFlow, or compute the input of the model without feature columns."
        )
    return module


def add_control_inputs(operation: Any, others: Sequence[Any]) -> None:
    """Makes an existing operation wait for others, which must not depend on it.

    `tf.control_dependencies` affects new operations only; the updates of a Keras metric are created by `update_state`
    inside the user's `model_fn`.
    """
    missing = missing_attributes(operation, ["_add_control_inputs"])
    if missing:
        loss = "The value of a Keras metric may be read while it is updated, and miss the last batch."
        warn_once(release(), tuple(missing), loss)
        return
    operation._add_control_inputs([other for other in others if other is not operation])


def replace_control_inputs(operation: Any, old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Replaces operations that an existing operation waits for; returns whether that is possible.

    The update of a frozen weight is removed from the train op of the user's `model_fn`; there is no public way to
    remove control inputs. Without this door, the update runs and is undone.
    """
    missing = missing_attributes(operation, ["_add_control_inputs", "_remove_all_control_inputs"])
    if missing:
        warn_once(release(), tuple(missing), "The updates of frozen weights are computed, and undone.")
        return False
    removed = {other.name for other in old}
    remaining = [other for other in operation.control_inputs if other.name not in removed]
    known = {other.name for other in remaining} | {operation.name}
    operation._remove_all_control_inputs()
    operation._add_control_inputs([*remaining, *(other for other in new if other.name not in known)])
    return True


def replace_input(operation: Any, place: int, tensor: Any) -> None:
    """Replaces one input of an existing operation by a tensor with the same value.

    There is no public way to change the graph of the user's `model_fn`. Without this door, steps take longer.
    """
    missing = missing_attributes(operation, ["_update_input"])
    if missing:
        warn_once(release(), tuple(missing), "Training of wide layers takes longer.")
        return
    operation._update_input(place, tensor)


def compute_as_written(operation: Any) -> None:
    """Stops TensorFlow from fusing an operation with the ones after it.

    TensorFlow does not fuse fetched operations, so without this door a tap would change the last digit of later values.
    """
    import tensorflow as tf

    missing = missing_attributes(operation, ["_set_attr"])
    if missing:
        loss = "The predictions of a wide and deep model may differ in the last digit where a tap reads its parts."
        warn_once(release(), tuple(missing), loss)
        return
    operation._set_attr("_grappler_do_not_remove", tf.compat.v1.AttrValue(b=True))


def slices_value(values: Any, indices: Any, dense_shape: Any = None) -> Any:
    """The value of fetched `tf.IndexedSlices`: its type has no public name, and hooks may use its fields."""
    from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

    return IndexedSlicesValue(values, indices, dense_shape)


class PreparedCall:
    """A session call with fixed fetches and targets; call it with the fed values.

    `Session.run` prepares fetches on each call, and `make_callable` accepts no options; the option needed is `stays`,
    to run in the calling thread. The session compiles the fetches once for all three, but again for callables with
    options.
    """

    def __init__(self, session: Any, fetches: Sequence[Any], targets: Sequence[Any], fed: Sequence[Any] = ()) -> None:
        missing = missing_attributes(session, ["_call_tf_sessionrun", "_extend_graph"])
        if missing:
            warn_once(release(), tuple(missing), "Steps take a little longer.")
            call = session.make_callable([*fetches, *targets], list(fed) or None)
            self._run: Callable[..., Any] = lambda _, feeds, outputs, *more: call(*feeds.values())[: len(outputs)]
        else:
            session._extend_graph()
            self._run = session._call_tf_sessionrun
        self._fetches = [one._as_tf_output() for one in fetches]
        self._targets = list(targets)
        self._fed = [one._as_tf_output() for one in fed]

    def __call__(self, values: Sequence[Any], stays: bool) -> Any:
        feeds = dict(zip(self._fed, values, strict=True))
        # They keep the graph alive, invisible to garbage collection: neither self nor an error's frames may hold them.
        targets = [one._c_op for one in self._targets]
        try:
            return self._run(_options_to_stay() if stays else None, feeds, self._fetches, targets, None)
        finally:
            targets.clear()


@functools.cache
def _options_to_stay() -> Any:
    from tensorflow.core.protobuf.config_pb2 import RunOptions
    from tensorflow.python.client.pywrap_tf_session import TF_NewBufferFromString

    return TF_NewBufferFromString(RunOptions(inter_op_thread_pool=_CALLING_THREAD).SerializeToString())


def is_stateful(op_type: str) -> bool | None:
    """Whether ops of a type hold or use state; None for a type that TensorFlow does not know: a function's name.

    An op of a graph has `op_def`; the nodes of a function's body have only their type, and the registry of types is
    private.
    """
    try:
        from tensorflow.python.framework import op_def_registry
    except ImportError:
        warn_once(release(), ("op_def_registry",), "Every evaluate and predict opens a new session.")
        return True
    op_def = op_def_registry.get(op_type)
    return None if op_def is None else bool(op_def.is_stateful)


def is_deterministic() -> bool:
    """Whether TensorFlow's ops shall be deterministic: `tf.config.experimental.enable_op_determinism`, or the variable
    `TF_DETERMINISTIC_OPS`. There is no public way to ask."""
    from tensorflow.python.framework import config

    missing = missing_attributes(config, ["is_op_determinism_enabled"])
    if missing:
        warn_once(release(), tuple(missing), "Steps on a GPU are not compiled by themselves.")
        return True
    return bool(config.is_op_determinism_enabled())


def has_gpu_kernel(op: Any) -> bool:
    """Whether TensorFlow has a kernel for GPUs of an op of this type, for the types of its values.

    The registry of kernels is private. Without it, every op counts as one that has such a kernel.
    """
    from tensorflow.python.framework import kernels

    missing = missing_attributes(kernels, ["get_registered_kernels_for_op"])
    if missing:
        warn_once(release(), tuple(missing), "describe(devices=True) does not say which ops have no kernel for GPUs.")
        return True
    found = [one for one in kernels.get_registered_kernels_for_op(op.type).kernel if one.device_type == "GPU"]
    return any(
        all(
            op.node_def.attr[rule.name].type in rule.allowed_values.list.type
            for rule in kernel.constraint
            if rule.name in op.node_def.attr and rule.allowed_values.list.type
        )
        for kernel in found
    )


def function_graph(graph: Any, name: str) -> Any:
    """The graph of a function that a graph calls, by its name; None if it is unknown.

    An error inside `tf.cond`, `tf.function` or a function of `tf.data` names an op of that graph, which stores the line
    that created it. There is no public lookup of functions.
    """
    missing = missing_attributes(graph, ["_get_function"])
    if missing:
        warn_once(release(), tuple(missing), "Errors inside functions do not name the line that made them.")
        return None
    function = graph._get_function(name)
    return None if function is None else getattr(function, "graph", None)


def event_writer(directory: str, suffix: str) -> Any:
    """TensorFlow's cached event writer of a directory; a new one writes to a file whose name ends with `suffix`.

    `FileWriterCache` creates writers without a suffix. Their file name is the time and the machine, which is
    predictable, and they would follow a link of that name.
    """
    import tensorflow as tf

    cache = tf.compat.v1.summary.FileWriterCache
    missing = missing_attributes(cache, ["_lock", "_cache"])
    if missing:
        warn_once(release(), tuple(missing), "Names of event files end with the machine's, and can be foretold.")
        return cache.get(directory)
    with cache._lock:
        if directory not in cache._cache:
            graph = tf.compat.v1.get_default_graph()
            cache._cache[directory] = tf.compat.v1.summary.FileWriter(directory, graph, filename_suffix=suffix)
        return cache._cache[directory]


def forget_event_writer(directory: str) -> None:
    """Evicts the event writer of a directory from TensorFlow's cache, after it has failed.

    The thread of a writer ends with its first error. `FileWriterCache` can only be cleared as a whole, which closes
    writers that other code uses.
    """
    import tensorflow as tf

    cache = tf.compat.v1.summary.FileWriterCache
    missing = missing_attributes(cache, ["_lock", "_cache"])
    if missing:
        warn_once(release(), tuple(missing), "Once a disk was full, events of that directory are written no more.")
        return
    with cache._lock:
        cache._cache.pop(directory, None)


def enclosing_body(tensor: Any) -> str | None:
    """The construct that a tensor is computed in, such as `tf.cond`, if a session cannot fetch it; None if it can.

    The body of a function is a graph known only by its class; with the older control flow only the operation stores the
    construct. Both are private.
    """
    graph, loop = getattr(tensor, "graph", None), "tf.while_loop (tf.map_fn and tf.scan are such loops)"
    if graph is None:
        return "eager code"
    if graph.building_function:
        kinds = {"CondBranchFuncGraph": "tf.cond", "WhileBodyFuncGraph": loop, "WhileCondFuncGraph": loop}
        return kinds.get(type(graph).__name__, "tf.function")
    if graph.is_fetchable(tensor):
        return None
    missing = missing_attributes(tensor.op, ["_get_control_flow_context"])
    if missing:
        warn_once(release(), tuple(missing), "A layer that cannot be read does not say what it is built inside of.")
        return "tf.cond or tf.while_loop"
    context = tensor.op._get_control_flow_context()
    return loop if context is not None and context.GetWhileContext() is not None else "tf.cond"


def is_building_body() -> bool:
    """Whether the body of a loop, a branch or a function is being built.

    With the older control flow only a private context tells. Without this door, the input of a layer that is called
    both inside and outside of such a body may get another number.
    """
    import tensorflow as tf

    graph: Any = tf.compat.v1.get_default_graph()
    if graph.building_function:
        return True
    missing = missing_attributes(graph, ["_get_control_flow_context"])
    if missing:
        warn_once(release(), tuple(missing), "Inputs of layers in older loops and branches may have another number.")
        return False
    return graph._get_control_flow_context() is not None


@contextlib.contextmanager
def preserve_scope_counts() -> Iterator[None]:
    """Inside the block, opening variable scopes does not use up their names.

    A graph counts the scopes of each name in a private store. Without this door, an edit of the input of a recurrent
    cell may change the names of variables.
    """
    import tensorflow as tf

    tf.compat.v1.get_variable_scope()  # creates the store
    stores = tf.compat.v1.get_collection(("__varscope",))
    missing = missing_attributes(stores[0], ["variable_scopes_count"]) if stores else ["the store of variable scopes"]
    if missing:
        warn_once(release(), tuple(missing), "An edit of what a recurrent cell takes may change names of variables.")
        yield
        return
    before = dict(stores[0].variable_scopes_count)
    try:
        yield
    finally:
        stores[0].variable_scopes_count = before


def saved_model_proto() -> Any:
    """An empty message of the file `saved_model.pb`.

    The file lists the graphs of a SavedModel; TensorFlow's public loaders load one whole graph into a session, and do
    not list the graphs.

    Raises:
        NotImplementedError: this TensorFlow lacks the message; SavedModels can be written, but not read.
    """
    try:
        from tensorflow.core.protobuf import saved_model_pb2
    except ImportError as error:
        raise NotImplementedError(f"{release()} has no public way to read a saved_model.pb, and {error}.") from error
    return saved_model_pb2.SavedModel()


def eager_mode() -> contextlib.AbstractContextManager[Any]:
    """Eager execution, also in a program of TensorFlow 1, which has switched it off.

    Without it, the TFLite converter loses the names of inputs and outputs. There is no public way to enable it for a
    block.
    """
    import tensorflow as tf

    enter_eager = getattr(getattr(getattr(tf, "__internal__", None), "eager_context", None), "eager_mode", None)
    if enter_eager is None:
        loss = "A TFLite file that a program without eager execution makes has no names of inputs and outputs."
        warn_once(release(), ("__internal__.eager_context.eager_mode",), loss)
        return contextlib.nullcontext()
    return enter_eager()
