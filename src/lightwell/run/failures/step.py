"""Explains an error of a session in the user's terms: the op, the line that created it, and what to do.

Takes a `tf.errors.OpError` and the program that ran, returns an exception of the same class. The original stays its
context, with TensorFlow's own text and stack.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import OWN_SCOPE, ModeKeys
from lightwell.errors import LightwellError
from lightwell.run.failures.memory import memory_advice
from lightwell.run.failures.op import INPUT_FN, FailedOp, Place, failed_op
from lightwell.run.failures.program_view import ProgramView

_DOING = {ModeKeys.TRAIN: "training", ModeKeys.EVAL: "evaluation", ModeKeys.PREDICT: "prediction"}
# These are for the loop over steps: the end of the data, a session that is lost or being closed.
_SIGNALS = (tf.errors.OutOfRangeError, tf.errors.AbortedError, tf.errors.UnavailableError, tf.errors.CancelledError)
_MOST_CHARACTERS = 500
_MOST_INPUTS = 4
_INITIALIZER = "/Initializer/"
_ASSERTION = re.compile(r"^assertion failed: \[(.*)\]$", re.DOTALL)
_TOO_LARGE = ("Cannot parse tensor from proto", "OOM when allocating")


def explained_step_error(error: tf.errors.OpError, program: ProgramView, batch: int | None = None) -> BaseException:
    """An exception to raise in place of `error`, `from None`; `error` itself where there is nothing to explain.

    It is of the same class and has the same `error_code`; `op` and `node_def` are those that the user made.

    Args:
        error: the error of a session.
        program: the program that ran.
        batch: the number of the batch in the call, from 1; None without a batch.
    """
    original: BaseException = error
    if isinstance(original, (*_SIGNALS, _ExplainedError, LightwellError)):
        return original
    failed = failed_op(error, program.graph)
    return _explained_error(error, failed.outer, _lines(failed, program, batch))


def explained_end_of_data(error: tf.errors.OpError, program: ProgramView) -> BaseException:
    """The same for metrics that could not be read because their values need a batch after the last one."""
    read = {} if program.evaluation is None else program.evaluation.values
    batch = _names(program.inputs.features) | _names(program.inputs.labels)
    needy = [name for name, value in read.items() if tf.is_tensor(value) and tensors_behind(value) & batch]
    named = f"the value of metric {needy[0]!r}" if needy else "a value"
    lines = [
        f"{_shortened(failed_op(error, program.graph).reason)}: evaluate has taken all batches into the metrics, and "
        f"{named} needs one more to be computed.",
        "In eval_metric_ops, (value, update_op), the value is read once after the last batch, and must come from what "
        "update_op has summed up in variables: as tf.compat.v1.metrics.mean(x) does it.",
    ]
    return _explained_error(error, error.op, lines)


def _explained_error(error: tf.errors.OpError, op: Any, lines: Sequence[str]) -> BaseException:
    op = op if op is not None else error.op
    node_def = error.node_def if op is None else op.node_def
    make = _explained_class(type(error))
    explained: BaseException = make(node_def, op, "\n".join(lines), error.error_code, error.experimental_payloads)
    return explained


class _ExplainedError:
    """Marks an error whose text is complete: TensorFlow would add the whole stack of the op to it."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, payloads: Any) -> None:
        tf.errors.OpError.__init__(self, node_def, op, message, error_code, payloads)

    def __str__(self) -> str:
        return str(self.message)  # type: ignore[attr-defined]

    def __reduce__(self) -> Any:  # an op cannot be pickled, the message can
        return _unpickle, (type(self).__bases__[1], self.message, self.error_code)  # type: ignore[attr-defined]


def _explained_class(kind: Any) -> Any:
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind.__name__, (_ExplainedError, kind), names)


def _unpickle(kind: type[BaseException], message: str, error_code: int) -> BaseException:
    explained: BaseException = _explained_class(kind)(None, None, message, error_code, {})
    return explained


def _lines(failed: FailedOp, program: ProgramView, batch: int | None) -> list[str]:
    """At most ten."""
    lines, doing = [_shortened(failed.reason)], _DOING[program.mode]
    if batch is not None:
        doing += f", batch {batch}"
    if _is_our_check(failed.op):
        message = _ASSERTION.sub(r"\1", failed.reason).replace("\\'", "'")
        return [message, f"It happened in {doing}."]
    if failed.op is None:
        return [*lines, f"It happened in {doing}.", *_what_to_do(failed, program)]
    lines.append(f"{_subject(failed)} failed in {doing}{_creation_text(failed.place)}")
    if failed.place is not None:
        lines += [f'  File "{failed.place.file}", line {failed.place.line}, in {failed.place.function}']
        lines += [f"    {failed.place.code}"] if failed.place.code else []
    about = [*_layer(failed, program), *_inputs(failed)]
    return [*lines, *([" ".join(about)] if about else []), *_what_to_do(failed, program)]


def _is_our_check(op: tf.Operation | None) -> bool:
    """Whether it is a check of Lightwell, whose text is complete."""
    return op is not None and op.type == "Assert" and op.name.startswith(OWN_SCOPE)


def _subject(failed: FailedOp) -> str:
    op, outer, forward = failed.op, failed.outer, failed.forward
    if op is None or outer is None:
        return "An op"
    if _is_input(outer):
        return "The input" if op is outer else f"The input, in op {op.name!r} ({op.type}) of a function of the dataset,"
    variable = _initialised(op)
    if variable is not None:
        return f"The initial value of variable {variable!r}"
    if forward is not None:
        return f"The gradient of {forward.name!r} ({forward.type}), op {op.name!r},"
    inside = "" if op is outer else f" inside {outer.name!r}"
    return f"The op {op.name!r} ({op.type}){inside}"


def _creation_text(place: Place | None) -> str:
    if place is None:
        return "."
    return f"; made in {place.part} here:" if place.part else "; raised by Python here:"


def _layer(failed: FailedOp, program: ProgramView) -> list[str]:
    op = failed.forward if failed.forward is not None else failed.outer
    name = None if op is None or _is_input(op) else layer_of(op, program)
    return [f"Layer: layers/{name}."] if name else []


def layer_of(op: tf.Operation, program: ProgramView) -> str | None:
    """The innermost layer that an op is part of: of those whose output needs it and whose input does not, the one with
    the fewest ops."""
    holding = []
    for call in program.layers:
        inside = _behind(call.outputs) - _behind(call.inputs)
        if op.name in inside:
            holding.append((len(inside), call.name))
    return min(holding)[1] if holding else None


def _behind(tensors: Any) -> set[str]:
    """The names of the ops that tensors are computed from."""
    left = [tensor.op for tensor in tf.nest.flatten(tensors, expand_composites=True) if tf.is_tensor(tensor)]
    names: set[str] = set()
    while left:
        op = left.pop()
        if op.name not in names:
            names.add(op.name)
            left.extend(tensor.op for tensor in op.inputs)
    return names


def _inputs(failed: FailedOp) -> list[str]:
    op = failed.forward if failed.forward is not None else failed.op
    if op is None or not 0 < len(op.inputs) <= _MOST_INPUTS or (failed.outer is not None and _is_input(failed.outer)):
        return []
    shown = [text for tensor in op.inputs if (text := _input(tensor))]
    return [f"Inputs: {', '.join(shown)}."] if shown else []


def _input(tensor: Any) -> str:
    if tensor.dtype == tf.resource:
        if tensor.op.type != "VarHandleOp":
            return ""
        shape = tf.TensorShape(tensor.op.get_attr("shape"))
        return f"variable {tensor.op.name!r} {_shape(shape)} {tf.dtypes.as_dtype(tensor.op.get_attr('dtype')).name}"
    return f"{tensor.op.name!r} {_shape(tensor.shape)} {tensor.dtype.base_dtype.name}"


def _shape(shape: Any) -> str:
    if shape.rank is None:
        return "of unknown shape"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape.as_list()) + "]"


def _what_to_do(failed: FailedOp, program: ProgramView) -> list[str]:
    reason, op, outer = failed.reason, failed.op, failed.outer
    if reason.startswith(_TOO_LARGE):
        return memory_advice(reason, op, program)
    if "available devices are" in reason:
        return [
            "Take that tf.device away, or let TensorFlow choose where it is missing: "
            "RunConfig(session_config=tf.compat.v1.ConfigProto(allow_soft_placement=True))."
        ]
    if "No such file or directory" in reason or "Permission denied" in reason:
        return [f"Check the path; relative ones start from {os.getcwd()}."]
    if op is not None and op.type.startswith("Placeholder"):
        return [
            "Feed it by a hook, SessionRunArgs(..., feed_dict={...}), or give it a value of its own: "
            "tf.compat.v1.placeholder_with_default."
        ]
    if (outer is not None and _is_input(outer)) or (failed.place is not None and failed.place.part == INPUT_FN):
        return ["The data, or a function of the dataset, have to be mended in input_fn; the model is not at fault."]
    shown = failed.forward if failed.forward is not None else op
    taps = [] if shown is None else _tappable(shown, program)
    if taps and shown is not None:
        call = f"est.predict(input_fn, predict_keys=[], taps={taps!r})"
        return [f"To see what goes into {shown.name!r}, without running it: {call}."]
    return ["Check the values that go into it: what input_fn gives, and what is made of that on the way."]


def _tappable(op: tf.Operation, program: ProgramView) -> list[str]:
    """Paths of an op's inputs, if a prediction can read what they are computed from: features, and no labels."""
    features, labels = (_names(values) for values in (program.inputs.features, program.inputs.labels))
    inputs = [(tensor, tensors_behind(tensor)) for tensor in op.inputs if tensor.dtype not in (tf.resource, tf.variant)]
    if op.graph is not program.graph or any(behind & labels for _, behind in inputs):
        return []
    fetchable = [tensor for tensor, behind in inputs if behind & features and op.graph.is_fetchable(tensor)]
    return [f"tensors/{tensor.name}" for tensor in fetchable]


def _names(values: Any) -> set[str]:
    return {value.name for value in tf.nest.flatten(values, expand_composites=True) if tf.is_tensor(value)}


def tensors_behind(tensor: Any) -> set[str]:
    """The names of the tensors that one is computed from, and its own."""
    names: set[str] = set()
    left = [tensor]
    while left:
        one = left.pop()
        if one.name not in names:
            names.add(one.name)
            left.extend(one.op.inputs)
    return names


def _is_input(op: tf.Operation) -> bool:
    return op.type.startswith(("IteratorGetNext", "MakeIterator"))


def _initialised(op: tf.Operation) -> str | None:
    name, separator, _ = op.name.partition(_INITIALIZER)
    return name if separator else None


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
