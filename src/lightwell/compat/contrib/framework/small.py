"""Functions of `tf.contrib.framework` that need a few lines each: names, checks of shapes, and conditions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises unless a tensor or variable may count steps: a whole number, and one only."""
    if not (isinstance(global_step_tensor, tf.Variable) or tf.is_tensor(global_step_tensor)):
        raise WrongType(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise WrongType(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}.')
    if global_step_tensor.shape.rank not in (0, None):
        raise WrongType(f'Existing "global_step" is not scalar: {global_step_tensor.shape}.')


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """The checked `global_step_tensor`; or the global step of the graph."""
    if global_step_tensor is None:
        return v1.train.get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """The tensor, if it is one whole number."""
    found = tf.convert_to_tensor(tensor)
    if not found.dtype.is_integer:
        raise UsageError(f"Expected integer type for {found.name}, received type: {found.dtype.name}.")
    if found.shape.rank not in (0, None):
        raise UsageError(f"Expected scalar shape for {found.name}, saw shape: {found.shape}.")
    return found


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """The tensor, whose shape is checked: now as far as it is known, and otherwise when it is computed."""
    values = tf.convert_to_tensor(tensor)
    if tf.is_tensor(expected_shape):
        known = tf.get_static_value(expected_shape)
        if known is None:
            check = v1.assert_equal(tf.shape(values), expected_shape, message=f"Wrong shape for {values.name}")
            with tf.control_dependencies([check]):
                return tf.identity(values)
        expected_shape = known.tolist()
    expected = tf.TensorShape(expected_shape)
    if not values.shape.is_compatible_with(expected):
        raise UsageError(f"Invalid shape for tensor {values.name}, expected {expected}, got {values.shape}.")
    return values if values.shape.is_fully_defined() else tf.ensure_shape(values, expected)


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """The tensor, whose shape is checked to be that of another."""
    like = tf.convert_to_tensor(expected_tensor)
    return with_shape(like.shape if like.shape.is_fully_defined() else tf.shape(like), tensor)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple[Any, Any]:
    """Both, without the last axis of the one that has an axis of size 1 more than the other."""
    with v1.name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        ranks = predictions.shape.rank, labels.shape.rank
        if None in ranks:
            return predictions, labels
        if ranks[0] == ranks[1] + 1 and tf.compat.dimension_value(predictions.shape[-1]) in (1, None):
            predictions = tf.squeeze(predictions, [-1])
        elif ranks[1] == ranks[0] + 1 and tf.compat.dimension_value(labels.shape[-1]) in (1, None):
            labels = tf.squeeze(labels, [-1])
        return predictions, labels


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Any:
    """The sum of all numbers of all tensors."""
    if not tensors:
        raise UsageError("reduce_sum_n: No tensors provided.")
    with v1.name_scope(name, "reduce_sum_n", tensors) as opened:
        return tf.add_n([tf.reduce_sum(one) for one in tensors], name=opened)


def smart_constant_value(pred: Any) -> bool | None:
    """Whether a condition holds, where that is known while the graph is built; None otherwise."""
    if isinstance(pred, bool):
        return pred
    if pred in (0, 1) and not tf.is_tensor(pred):
        return bool(pred)
    if tf.is_tensor(pred) or isinstance(pred, tf.Variable):
        value = tf.get_static_value(pred)
        return None if value is None else bool(value)
    raise WrongType(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}.")


def smart_cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: Any = None
) -> Any:
    """`tf.cond`, but of one branch alone where the condition is known while the graph is built."""
    if not callable(true_fn) or not callable(false_fn):
        raise WrongType("smart_cond: `true_fn` and `false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return v1.cond(pred, true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()


def smart_case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, name: str = "smart_case"
) -> Any:
    """`tf.case`, but of one branch alone where a condition is known to hold while the graph is built."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)
    open_pairs: list[tuple[Any, Callable[[], Any]]] = []
    for pred, function in pairs:
        known = smart_constant_value(pred)
        if known and not open_pairs:
            return function()
        if known is None or known:
            open_pairs.append((pred, function))
    if not open_pairs and default is not None:
        return default()
    return v1.case(open_pairs or pairs, default=default, exclusive=exclusive, name=name)


def get_name_scope() -> str:
    """The name scope that is open now."""
    return str(v1.get_default_graph().get_name_scope())


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name of an operation, below a scope."""
    if not import_scope:
        return name
    scope = import_scope.rstrip("/")
    for sign in ("loc:@", "^"):
        if name.startswith(sign):
            return f"{sign}{scope}/{name[len(sign) :]}"
    return f"{scope}/{name}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name of an operation, without a scope it stands in."""
    if not export_scope:
        return name
    scope = export_scope.rstrip("/") + "/"
    for sign in ("loc:@", "^", ""):
        if name.startswith(f"{sign}{scope}"):
            return sign + name[len(sign) + len(scope) :]
    return name


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: Any = None) -> Any:
    """The graph that tensors belong to; the default graph if none does to any."""
    if graph is not None:
        return graph
    found = [one.graph for one in op_input_list if hasattr(one, "graph")]
    return found[0] if found else v1.get_default_graph()


def get_placeholders(graph: Any) -> list[Any]:
    """The placeholders of a graph."""
    return [operation.outputs[0] for operation in graph.get_operations() if operation.type == "Placeholder"]


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Sets a variable to zeros."""
    return v1.assign(ref, tf.zeros(ref.shape, ref.dtype.base_dtype), use_locking=use_locking, name=name)


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function on values of tensors, in structures of any kind, while the graph runs."""
    given = {"args": tuple(args), "kwargs": dict(kwargs or {})}
    flat = tf.nest.flatten(given)
    tensors = [(place, one) for place, one in enumerate(flat) if tf.is_tensor(one)]
    types = tf.nest.flatten(output_types)

    def call(*values: Any) -> Any:
        filled = list(flat)
        for (place, _), value in zip(tensors, values, strict=True):
            filled[place] = value
        again = tf.nest.pack_sequence_as(given, filled)
        result = func(*again["args"], **again["kwargs"])
        return tf.nest.flatten(result) if output_types is not None else result

    if output_types is None:
        return v1.py_func(call, [one for _, one in tensors], [], stateful=stateful, name=name)
    made = v1.py_func(call, [one for _, one in tensors], types, stateful=stateful, name=name)
    if output_shapes is not None:
        for one, shape in zip(made, tf.nest.flatten(_shapes(output_types, output_shapes)), strict=True):
            one.set_shape(shape)
    return tf.nest.pack_sequence_as(output_types, made)


def _shapes(types: Any, shapes: Any) -> Any:
    """Shapes in the structure of types."""
    if isinstance(types, Mapping):
        return {key: _shapes(one, shapes[key]) for key, one in types.items()}
    if isinstance(types, list | tuple):
        return [_shapes(one, shape) for one, shape in zip(types, shapes, strict=True)]
    return tf.TensorShape(shapes)


def deprecated(date: Any, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """A decorator for a function that will go: its first call says so."""

    def decorate(func: Any) -> Any:
        said: list[bool] = []

        @functools.wraps(func)
        def warning(*args: Any, **kwargs: Any) -> Any:
            if not said or not warn_once:
                said.append(True)
                logger.warning("%s is deprecated and will be removed. %s", func.__name__, instructions)
            return func(*args, **kwargs)

        return warning

    return decorate


def deprecated_args(
    date: Any, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any
) -> Callable[[Any], Any]:
    """A decorator for a function of which arguments will go; it is left as it is."""
    return lambda func: func


def deprecated_arg_values(
    date: Any, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any
) -> Callable[[Any], Any]:
    """A decorator for a function of which values of arguments will go; it is left as it is."""
    return lambda func: func
