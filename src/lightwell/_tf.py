"""What Lightwell needs of TensorFlow that has no public door. Nothing else in the package reaches behind `tf.*`.

Each entry says why it is needed, and what happens without it: a release that no longer has it costs what the entry is
for, told in one warning, and nothing else.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lightwell._probes import lacking, tell_once

_IN_THIS_THREAD = -1  # as RunOptions.inter_op_thread_pool: not by a pool of threads


def release() -> str:
    """The TensorFlow that is installed."""
    import tensorflow as tf

    return f"TensorFlow {tf.__version__}"


def parts_of(variable: Any) -> tuple[Any, ...]:
    """What each replica of a strategy has of a variable, in order; the variable itself where it is one for all.

    It stands here as such a variable answers for itself only where its strategy is entered, and computes its value
    when it is asked for what it does not know.
    """
    import tensorflow as tf

    return tuple(variable.values) if isinstance(variable, tf.distribute.DistributedValues) else (variable,)


def variable_name(variable: Any) -> str:
    """The name of a variable in the graph, the same for every replica."""
    return str(parts_of(variable)[0].op.name)


def whole_variable(variable: Any) -> tuple[str, tuple[int, ...]]:
    """Name and shape of a variable as a checkpoint has it: for a part of a partitioned variable, those of the whole.

    A size that the graph does not know is 0. A part knows its whole so that `Saver` can join them; there is no public
    way to ask it.
    """
    variable = parts_of(variable)[0]
    missing = lacking(variable, ["_save_slice_info"])
    if missing:
        tell_once(release(), tuple(missing), "A partitioned variable is shown as its parts.")
    part = getattr(variable, "_save_slice_info", None)
    if part is not None:
        return part.full_name, tuple(int(size) for size in part.full_shape)
    sizes = [0] if variable.shape.rank is None else variable.shape.as_list()
    return variable.op.name, tuple(int(size or 0) for size in sizes)


def place_in_whole(variable: Any) -> tuple[slice, ...]:
    """Where a part of a partitioned variable stands in the whole; all of it for one that is no part. There is no public
    way to ask."""
    part = getattr(parts_of(variable)[0], "_save_slice_info", None)
    if part is None:
        return ()
    return tuple(slice(start, start + size) for start, size in zip(part.var_offset, part.var_shape, strict=True))


def feature_columns() -> Any:
    """The classes behind `tf.feature_column`: `FeatureColumn`, `DenseColumn`, `SequenceDenseColumn` and the
    `FeatureTransformationCache` that a column reads its features from.

    `DenseFeatures` and `SequenceFeatures` must tell columns apart and hand them that cache; TensorFlow exports the
    classes for layers of this kind, but not under a public name.

    Raises:
        NotImplementedError: this TensorFlow has them elsewhere; without them there are no such layers.
    """
    import tensorflow as tf

    found = getattr(getattr(tf, "__internal__", None), "feature_column", None)
    classes = ("DenseColumn", "FeatureColumn", "FeatureTransformationCache", "SequenceDenseColumn")
    missing = lacking(found, classes, "tf.__internal__.feature_column")
    if missing:
        raise NotImplementedError(
            f"{release()} has no {', '.join(missing)}, which DenseFeatures and SequenceFeatures are made of. Use an "
            "older TensorFlow, or compute the input of the model without feature columns."
        )
    return found


def run_after(operation: Any, others: Sequence[Any]) -> None:
    """Makes an operation that exists wait for others, which must not depend on it.

    `tf.control_dependencies` does this for operations that are still to be made; the updates of a Keras metric are
    made by `update_state` inside the user's `model_fn`.
    """
    missing = lacking(operation, ["_add_control_inputs"])
    if missing:
        loss = "The value of a Keras metric may be read while it is updated, and miss the last batch."
        tell_once(release(), tuple(missing), loss)
        return
    operation._add_control_inputs([other for other in others if other is not operation])


def wait_instead(operation: Any, for_these: Sequence[Any], for_those: Sequence[Any]) -> bool:
    """Makes an operation that exists wait for others than before; says whether that can be done.

    The update of a weight that is frozen is left out of a step that the user's `model_fn` has put together; edges
    cannot be taken from a graph in public. Without it, the update runs and is undone.
    """
    missing = lacking(operation, ["_add_control_inputs", "_remove_all_control_inputs"])
    if missing:
        tell_once(release(), tuple(missing), "The updates of frozen weights are computed, and undone.")
        return False
    dropped = {other.name for other in for_these}
    left = [other for other in operation.control_inputs if other.name not in dropped]
    known = {other.name for other in left} | {operation.name}
    operation._remove_all_control_inputs()
    operation._add_control_inputs([*left, *(other for other in for_those if other.name not in known)])
    return True


def read_instead(operation: Any, place: int, tensor: Any) -> None:
    """Lets an operation that exists read another tensor as one of its inputs, with the same value.

    Inputs of what the user's `model_fn` has put together cannot be changed in public. Without it, steps take longer.
    """
    missing = lacking(operation, ["_update_input"])
    if missing:
        tell_once(release(), tuple(missing), "Training of wide layers takes longer.")
        return
    operation._update_input(place, tensor)


def compute_as_written(operation: Any) -> None:
    """Lets TensorFlow compute an operation as it is written, and not join it with what comes after it.

    It does so by itself where the value is fetched; then a tap would change the last digit of what comes after.
    """
    import tensorflow as tf

    missing = lacking(operation, ["_set_attr"])
    if missing:
        loss = "The predictions of a wide and deep model may differ in the last digit where a tap reads its parts."
        tell_once(release(), tuple(missing), loss)
        return
    operation._set_attr("_grappler_do_not_remove", tf.compat.v1.AttrValue(b=True))


def slices_value(values: Any, indices: Any, dense_shape: Any = None) -> Any:
    """What a session gives for `tf.IndexedSlices`: the type has no public name, and hooks may ask for its fields."""
    from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

    return IndexedSlicesValue(values, indices, dense_shape)


class PreparedCall:
    """Fetches tensors and runs operations; what that needs is looked up once. Called with the values of what is fed.

    `Session.run` looks it up each time; `make_callable` takes no options, and one is needed: whether it `stays` in the
    calling thread. The session prepares only once what any of the three runs, but again for callables with options.
    """

    def __init__(self, session: Any, fetches: Sequence[Any], targets: Sequence[Any], fed: Sequence[Any] = ()) -> None:
        missing = lacking(session, ["_call_tf_sessionrun", "_extend_graph"])
        if missing:
            tell_once(release(), tuple(missing), "Steps take a little longer.")
            call = session.make_callable([*fetches, *targets], list(fed) or None)
            self._run: Callable[..., Any] = lambda _, feeds, asked, *more: call(*feeds.values())[: len(asked)]
        else:
            session._extend_graph()
            self._run = session._call_tf_sessionrun
        self._fetches = [one._as_tf_output() for one in fetches]
        self._targets = list(targets)
        self._fed = [one._as_tf_output() for one in fed]

    def __call__(self, values: Sequence[Any], stays: bool) -> Any:
        feeds = dict(zip(self._fed, values, strict=True))
        # These hold the graph unseen by garbage collection: neither this nor the frames of an error may keep them.
        targets = [one._c_op for one in self._targets]
        try:
            return self._run(_options_to_stay() if stays else None, feeds, self._fetches, targets, None)
        finally:
            targets.clear()


def call_of_its_own(
    session: Any, fetches: Sequence[Any], targets: Sequence[Any], fed: Sequence[Any], stays: bool
) -> Any:
    """The same as a call that the session prepares for itself: a tenth faster where steps are small, but prepared once
    more. None where there is no such call. `make_callable` does it too, and takes no options.
    """
    missing = lacking(session, ["_make_callable_from_options"])
    if missing:
        tell_once(release(), tuple(missing), "Small steps that run one by one take a little longer.")
        return None
    from tensorflow.core.protobuf.config_pb2 import CallableOptions

    named = {"fetch": fetches, "target": targets, "feed": fed}
    options = CallableOptions(**{key: [one.name for one in elements] for key, elements in named.items()})
    if stays:
        options.run_options.inter_op_thread_pool = _IN_THIS_THREAD
    return session._make_callable_from_options(options)


@functools.cache
def _options_to_stay() -> Any:
    from tensorflow.core.protobuf.config_pb2 import RunOptions
    from tensorflow.python.client.pywrap_tf_session import TF_NewBufferFromString

    return TF_NewBufferFromString(RunOptions(inter_op_thread_pool=_IN_THIS_THREAD).SerializeToString())


def is_stateful(op_type: str) -> bool | None:
    """Whether ops of a type hold or use state; None for a type that is none of TensorFlow's: a function's name.

    An op of a graph tells it by `op_def`; the nodes of a function's body have only their type, and there is no public
    look-up from there.
    """
    try:
        from tensorflow.python.framework import op_def_registry
    except ImportError:
        tell_once(release(), ("op_def_registry",), "Every evaluate and predict opens a new session.")
        return True
    found = op_def_registry.get(op_type)
    return None if found is None else bool(found.is_stateful)


def function_graph(graph: Any, name: str) -> Any:
    """The graph of a function that a graph calls, by its name; None if it is not known.

    An error inside `tf.cond`, `tf.function` or a function of `tf.data` names an op of that graph, which knows the line
    that made it. There is no public way from the name of a function to its graph.
    """
    missing = lacking(graph, ["_get_function"])
    if missing:
        tell_once(release(), tuple(missing), "Errors inside functions do not name the line that made them.")
        return None
    function = graph._get_function(name)
    return None if function is None else getattr(function, "graph", None)


def event_writer(directory: str, suffix: str) -> Any:
    """The event writer that TensorFlow keeps for a directory; a new one writes to a file whose name ends with `suffix`.

    `FileWriterCache` makes writers without one. Then the name is the time and the machine, which anybody can foretell,
    and the file is written through a link of that name.
    """
    import tensorflow as tf

    cache = tf.compat.v1.summary.FileWriterCache
    missing = lacking(cache, ["_lock", "_cache"])
    if missing:
        tell_once(release(), tuple(missing), "Names of event files end with the machine's, and can be foretold.")
        return cache.get(directory)
    with cache._lock:
        if directory not in cache._cache:
            graph = tf.compat.v1.get_default_graph()
            cache._cache[directory] = tf.compat.v1.summary.FileWriter(directory, graph, filename_suffix=suffix)
        return cache._cache[directory]


def forget_event_writer(directory: str) -> None:
    """Lets TensorFlow make a new event writer for a directory, after the one it keeps has failed.

    The thread of a writer ends with its first error, and `FileWriterCache` can only be emptied as a whole, which closes
    writers that others use.
    """
    import tensorflow as tf

    cache = tf.compat.v1.summary.FileWriterCache
    missing = lacking(cache, ["_lock", "_cache"])
    if missing:
        tell_once(release(), tuple(missing), "Once a disk was full, events of that directory are written no more.")
        return
    with cache._lock:
        cache._cache.pop(directory, None)


def body_around(tensor: Any) -> str | None:
    """What a tensor is computed inside of, in TensorFlow's words, if a session cannot fetch it; None if it can.

    The body of a function is a graph that only its class tells from another; in a graph with the older control flow
    only the operation knows. There is no public way to ask either.
    """
    graph, loop = getattr(tensor, "graph", None), "tf.while_loop (tf.map_fn and tf.scan are such loops)"
    if graph is None:
        return "eager code"
    if graph.building_function:
        kinds = {"CondBranchFuncGraph": "tf.cond", "WhileBodyFuncGraph": loop, "WhileCondFuncGraph": loop}
        return kinds.get(type(graph).__name__, "tf.function")
    if graph.is_fetchable(tensor):
        return None
    missing = lacking(tensor.op, ["_get_control_flow_context"])
    if missing:
        tell_once(release(), tuple(missing), "A layer that cannot be read does not say what it is built inside of.")
        return "tf.cond or tf.while_loop"
    context = tensor.op._get_control_flow_context()
    return loop if context is not None and context.GetWhileContext() is not None else "tf.cond"


def builds_a_body() -> bool:
    """Whether what is built now is the body of a loop, a branch or a function.

    In a graph with the older control flow only its context tells, for which there is no public name. Without it a layer
    that is called both inside and outside of such a body has its input inside under another number.
    """
    import tensorflow as tf

    graph: Any = tf.compat.v1.get_default_graph()
    if graph.building_function:
        return True
    missing = lacking(graph, ["_get_control_flow_context"])
    if missing:
        tell_once(release(), tuple(missing), "Inputs of layers in older loops and branches may have another number.")
        return False
    return graph._get_control_flow_context() is not None


@contextlib.contextmanager
def scopes_tried() -> Iterator[None]:
    """Inside the block variable scopes can be opened to learn their names, which stay free for those who come after.

    A graph counts the scopes of each name in a store that has no public name. Without it an edit of what a recurrent
    cell takes may move the names of variables.
    """
    import tensorflow as tf

    tf.compat.v1.get_variable_scope()  # makes the store
    stores = tf.compat.v1.get_collection(("__varscope",))
    missing = lacking(stores[0], ["variable_scopes_count"]) if stores else ["the store of variable scopes"]
    if missing:
        tell_once(release(), tuple(missing), "An edit of what a recurrent cell takes may change names of variables.")
        yield
        return
    before = dict(stores[0].variable_scopes_count)
    try:
        yield
    finally:
        stores[0].variable_scopes_count = before


def saved_model_proto() -> Any:
    """An empty message of the file `saved_model.pb`.

    A SavedModel with several graphs must be read to know which it has; TensorFlow's public loaders take one whole, into
    a session, and name nothing that they do not find.

    Raises:
        NotImplementedError: this TensorFlow has it elsewhere; SavedModels can be written then, but not read back.
    """
    try:
        from tensorflow.core.protobuf import saved_model_pb2
    except ImportError as error:
        raise NotImplementedError(f"{release()} has no public way to read a saved_model.pb, and {error}.") from error
    return saved_model_pb2.SavedModel()


def eager_mode() -> contextlib.AbstractContextManager[Any]:
    """Eager execution, also in a program of TensorFlow 1, which has it switched off.

    The TFLite converter is another one without it, which forgets the names of inputs and outputs. There is no public
    way to switch it on for a while; without this door, a program of TensorFlow 1 gets such a file.
    """
    import tensorflow as tf

    found = getattr(getattr(getattr(tf, "__internal__", None), "eager_context", None), "eager_mode", None)
    if found is None:
        loss = "A TFLite file that a program without eager execution makes has no names of inputs and outputs."
        tell_once(release(), ("__internal__.eager_context.eager_mode",), loss)
        return contextlib.nullcontext()
    return found()
