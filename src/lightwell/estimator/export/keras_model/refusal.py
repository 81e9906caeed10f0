"""The error for a model that cannot become a Keras model: its ops, their lines, and the alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.estimator.export.keras_model.custom_layers import argument_names, encoded
from lightwell.estimator.export.keras_model.route import READS, VARIABLE_HANDLES, VARIABLE_VALUES, Route
from lightwell.estimator.export.keras_model.tables import LOOKUPS, TABLES
from lightwell.run.failures.op import Place, place_of

_MAX_LINES = 12
_RANDOM = ("Random", "Multinomial", "TruncatedNormal", "ParameterizedTruncatedNormal")
_FLOW = frozenset("Enter Exit Switch Merge NextIteration LoopCond RefEnter RefExit RefSwitch RefMerge".split())
_RESOURCE_TYPES = (tf.resource, tf.variant)
_RUNS_OTHER_OPS = "runs other ops, maybe in a loop; for sequences Keras has recurrent layers: keras.layers.LSTM"
_ALTERNATIVE = (
    "The SavedModel layer runs any model in Keras, with weights that stay as they are:\n"
    '  path = est.export_saved_model("exports").decode()\n'
    '  layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")'
)


class NoKerasModel(UsageError):
    """A model that has no counterpart in Keras."""


def check_route(route: Route, unlike: Mapping[str, str]) -> None:
    """Refuses a route with an op that cannot be converted.

    Args:
        route: the ops to convert.
        unlike: layers that could not be copied, with the reason.

    Raises:
        NoKerasModel: names all such ops.
    """
    blocked = [(op, reason) for op in route.steps if (reason := _reason(op, route)) is not None]
    if not blocked:
        return
    lines = _lines(blocked)
    more = [f"  and {len(lines) - _MAX_LINES} more lines"] if len(lines) > _MAX_LINES else []
    copies = [f"  Layer {name!r} was not copied: {reason}." for name, reason in unlike.items()]
    raise NoKerasModel(
        "\n".join(
            [
                "to_keras: expected a model of layers and ops that depend on nothing but their inputs and weights; "
                f"{len(blocked)} op(s) between the features and the predictions stand in the way:",
                *lines[:_MAX_LINES],
                *more,
                *copies,
                _ALTERNATIVE,
            ]
        )
    )


def _reason(op: tf.Operation, route: Route) -> str | None:
    """Why an op cannot be converted; None if it can."""
    if op.name in route.calls or op.name in route.fixed or op.type in VARIABLE_HANDLES | VARIABLE_VALUES:
        return None
    if op.type in READS and op.inputs[0].op.name in route.variables:
        return None
    if op.type in TABLES or (op.type in LOOKUPS and _is_static_lookup(op, route)):
        return None
    if op.type.startswith("Placeholder"):
        return "is fed from elsewhere than the features"
    if op.type in _FLOW or _runs_functions(op):
        return _RUNS_OTHER_OPS
    if "Table" in op.type:
        return "works on a table that may change; keras.layers.StringLookup and IntegerLookup hold tables in Keras"
    if any(word in op.type for word in _RANDOM) and op.op_def.is_stateful:
        return "draws random numbers"
    if op.op_def.is_stateful:
        return "reads or writes what is kept outside of the model"
    if any(tensor.dtype.base_dtype in _RESOURCE_TYPES for tensor in [*op.inputs, *op.outputs]):
        return "works on a value that only TensorFlow has"
    return None if _is_callable(op) else "cannot be called outside of its graph"


def _is_static_lookup(op: tf.Operation, route: Route) -> bool:
    return op.inputs[0].op.type in TABLES and op.inputs[2].op.name in route.fixed


def _runs_functions(op: tf.Operation) -> bool:
    return any(attribute.type in ("func", "list(func)") for attribute in op.op_def.attr)


def _is_callable(op: tf.Operation) -> bool:
    names = argument_names(op)
    if names is None:
        return False
    try:
        for attribute in op.op_def.attr:
            if attribute.name in names:
                encoded(op.get_attr(attribute.name))
    except TypeError:
        return False
    return True


def _lines(blocked: Sequence[tuple[tf.Operation, str]]) -> list[str]:
    """One line of text for all ops of one line of the user's code."""
    by_place: dict[Place | None, list[tuple[tf.Operation, str]]] = {}
    for op, reason in blocked:
        by_place.setdefault(place_of(op), []).append((op, reason))
    return [_line(place, ops) for place, ops in by_place.items()]


def _line(place: Place | None, ops: Sequence[tuple[tf.Operation, str]]) -> str:
    (first, reason), others = next((one for one in ops if one[1] == _RUNS_OTHER_OPS), ops[0]), len(ops) - 1
    more = f" (and {others} more of this line)" if others else ""
    where = "" if place is None else f"\n    made by {place.file}:{place.line}, in {place.function}: {place.code}"
    return f"  {first.type} {first.name!r}{more} {reason}{where}"
