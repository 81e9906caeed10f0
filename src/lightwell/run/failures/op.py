"""Locates the op that failed, and the line of the user that created it.

Takes an error of a session and its graph, returns a `FailedOp`. TensorFlow names the op that it ran: that may be the
copy of an op in a loop of steps, an op inside a function (of `tf.data`, `tf.cond`, `tf.function`), or one that belongs
to a gradient. Parts that cannot be located are None.
"""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base import package
from lightwell.base.keys import FUSED_SCOPE
from lightwell.errors import reason_of
from lightwell.foreign import private_tf
from lightwell.run.inputs.pipeline import datasets_behind

INPUT_FN, MODEL_FN = "input_fn", "model_fn"
_CALLERS = {"call_model_fn": MODEL_FN, "call_input_fn": INPUT_FN}
_COPIES = re.compile(f"{FUSED_SCOPE}(?:batches/)?step/")  # of steps, or of the ops that read batches
_NODE = re.compile(r"(?:\{\{function_node ([^}]+)\}\}\s*)?(?:\{\{node ([^}]+)\}\}|\[\[([^\[\]{}]+)\]\])")
_GRADIENT = re.compile(r"(?:^|.*/)gradients(?:_\d+)?/(.+)_grad/")
_DATASET_FUNCTION = re.compile(r"Error in user-defined function passed to \S+ transformation with iterator: \S+: ")
_OF_FILES = re.compile("No such file|corrupted record|Permission denied|truncated record").search
_PYTHON_FRAME = re.compile(r'^ *File "([^"]+)", line (\d+), in (.+)$', re.MULTILINE)
_TENSORFLOW = os.path.join(os.path.dirname(os.path.abspath(tf.__file__)), "")
_INSTALLED = os.path.join(os.path.dirname(_TENSORFLOW.rstrip(os.sep)), "")
_STANDARD = os.path.join(sysconfig.get_paths()["stdlib"], "")
_LIBRARIES = (package.FOLDER, _TENSORFLOW, *(os.path.join(_INSTALLED, name, "") for name in ("keras", "tf_keras")))


@dataclass(frozen=True)
class Place:
    """A line of the user's: file, number, the function it stands in, its text, and whose part it is (`model_fn`)."""

    file: str
    line: int
    function: str
    part: str

    @property
    def code(self) -> str:
        """The line's text; empty where it cannot be read."""
        return linecache.getline(self.file, self.line).strip()


@dataclass(frozen=True, eq=False)
class FailedOp:
    """An op that failed.

    Attributes:
        reason: TensorFlow's own first sentence.
        op: the op that failed, as the user created it; inside a function, the op there. None if it is not known.
        outer: the op of the graph itself: `op`, or the one that called the function.
        forward: for an op of a gradient, the op whose gradient it is.
        place: the line that created it.
    """

    reason: str
    op: tf.Operation | None = None
    outer: tf.Operation | None = None
    forward: tf.Operation | None = None
    place: Place | None = None


def failed_op(error: BaseException, graph: tf.Graph) -> FailedOp:
    """The op behind an error."""
    text = str(getattr(error, "message", error))
    nodes = _nodes(text)
    outer = next((op for _, name in reversed(nodes) if (op := _op(graph, name)) is not None), None)
    op = _innermost(graph, nodes, outer) or outer
    forward = _forward(op) if op is not None and op is outer else None
    reason = _reason(error)
    makers = _makers(reason, graph, outer) if outer is not None and op is outer else []
    return FailedOp(reason, op, outer or op, forward, _place(text, [*makers, *_in_order(op, outer, forward)]))


def place_of(op: tf.Operation) -> Place | None:
    """The line of the user that created an op."""
    return _place("", [op])


def without_copies(text: str) -> str:
    """A text with the user's names of ops in place of those of copies."""
    return _COPIES.sub("", text)


def _reason(error: BaseException) -> str:
    sentence = _DATASET_FUNCTION.sub("", reason_of(error))
    sentence = re.sub(
        r"\{\{(?:function_)?node ([^}]*)\}\}\s*", lambda m: "" if m[0][2:4] == "fu" else m[1] + " ", sentence
    )
    return without_copies(sentence).strip().rstrip(".:")


def _nodes(text: str) -> list[tuple[str, str]]:
    """The (function, op) names in a text, the op that failed first, its callers after it."""
    relevant = text.rpartition("Node: ")[2] if "Node: " in text else text
    nodes = [(m[1] or "", without_copies(m[2] or m[3])) for m in _NODE.finditer(relevant)]
    detected = re.search(r"Detected at node '?([^\s']+)", text)
    return nodes or ([("", without_copies(detected[1]))] if detected else [])


def _op(graph: tf.Graph, name: str) -> tf.Operation | None:
    try:
        return graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return None


def _innermost(graph: tf.Graph, nodes: Sequence[tuple[str, str]], outer: tf.Operation | None) -> tf.Operation | None:
    """The op that failed inside a function that `outer` calls, or None if it did not."""
    if not nodes:
        return None
    function, name = nodes[0]
    if not function and outer is not None and outer.name == name:
        return None
    inside = {
        called: op for called, inner in _functions_of(graph, outer).items() if (op := _op(inner, name)) is not None
    }
    same = [op for called, op in inside.items() if function.startswith(called)]  # TensorFlow adds `_rewritten` to some
    return next(iter(same or inside.values()), None)


def _functions_of(graph: tf.Graph, outer: tf.Operation | None) -> dict[str, Any]:
    """The graphs of all functions that an op calls, by name, those of the dataset behind an iterator too; for None,
    those that any op calls."""
    functions: dict[str, Any] = {}
    pending = graph.get_operations() if outer is None else [outer, *_datasets(graph, outer)]
    while pending:
        op = pending.pop(0)
        for name in _called(op):
            inner = None if name in functions else private_tf.function_graph(graph, name)
            if inner is not None:
                functions[name] = inner
                pending += inner.get_operations()
    return functions


def _datasets(graph: tf.Graph, op: tf.Operation) -> list[tf.Operation]:
    """The dataset ops behind the op of an iterator, the last of the pipeline first."""
    if op.type.startswith("MakeIterator"):
        return datasets_behind(op.inputs[0].op)
    if not op.type.startswith("IteratorGetNext"):
        return []
    makers = [maker for maker in graph.get_operations() if maker.type == "MakeIterator"]
    return [
        source
        for maker in makers
        if maker.inputs[1].op is op.inputs[0].op
        for source in datasets_behind(maker.inputs[0].op)
    ]


def _makers(reason: str, graph: tf.Graph, outer: tf.Operation) -> list[tf.Operation]:
    """For an error of an iterator, the dataset ops that may have raised it, the likeliest first."""
    datasets = _datasets(graph, outer)
    if not datasets:
        return []
    words = ("Batch",) if "batch" in reason else ("Record", "TextLine", "Reader", "CSV") if _OF_FILES(reason) else ()
    in_functions = [op for inner in _functions_of(graph, outer).values() for op in inner.get_operations()]
    likely = [op for op in [*datasets, *in_functions] if any(word in op.type for word in words)]
    return [*likely, *datasets]


def _called(op: tf.Operation) -> Iterator[str]:
    for attribute in op.op_def.attr:
        if attribute.type == "func":
            yield op.get_attr(attribute.name).name
        elif attribute.type == "list(func)":
            yield from (function.name for function in op.get_attr(attribute.name))


def _forward(op: tf.Operation) -> tf.Operation | None:
    match = _GRADIENT.match(op.name)
    if match is None:
        return None
    named = match.group(1)
    # The scope of the gradients may stand before the name of the op, or be part of it.
    return next((forward for name in _tails(named) if (forward := _op(op.graph, name)) is not None), None)


def _tails(name: str) -> Iterator[str]:
    parts = name.split("/")
    for start in range(len(parts)):
        yield "/".join(parts[start:])


def _place(text: str, candidates: Sequence[Any]) -> Place | None:
    raised = [Frame(file, int(line), name) for file, line, name in _PYTHON_FRAME.findall(_python_part(text))]
    for frames in (raised, *map(_frames, candidates)):
        place = _innermost_place(frames, need_part=frames is not raised)
        if place is not None:
            return place
    return None


def _python_part(text: str) -> str:
    """The traceback of a Python function that TensorFlow called (`py_function`, a generator), where a text has one."""
    return text.partition("Traceback (most recent call last):")[2].partition("[[")[0]


def _in_order(op: Any, outer: Any, forward: Any) -> list[Any]:
    if forward is not None and not _is_of_gradient_function(op):
        return [forward, op]
    return [candidate for candidate in (op, outer) if candidate is not None]


def _is_of_gradient_function(op: Any) -> bool:
    """Whether the user's own gradient function created the op: then a line of the user is below TensorFlow's."""
    frames = _frames(op)
    below = max(
        (i for i, frame in enumerate(frames) if frame.file.startswith(_TENSORFLOW) and "radient" in frame.name),
        default=-1,
    )
    return below >= 0 and any(_is_users(frame) for frame in frames[below:])


@dataclass(frozen=True)
class Frame:
    """One call in a stack."""

    file: str
    line: int
    name: str


def _frames(op: Any) -> list[Frame]:
    return [Frame(frame.filename, frame.lineno or 0, frame.name) for frame in op.traceback or ()]


def _innermost_place(frames: Sequence[Frame], need_part: bool) -> Place | None:
    """The innermost line of the user's, below the call of `model_fn` or `input_fn`; if all is installed packages there
    (a model that somebody packaged), the innermost that is neither TensorFlow's nor ours."""
    calls = [
        (index, _CALLERS[f.name])
        for index, f in enumerate(frames)
        if f.name in _CALLERS and f.file.startswith(package.FOLDER)
    ]
    if need_part and not calls:
        return _in_a_hook(frames)
    start, part = calls[-1] if calls else (-1, "")
    below = frames[start + 1 :]
    users = [f for f in below if _is_users(f)] or [f for f in below if not _is_library(f)]
    return Place(users[-1].file, users[-1].line, _innermost_name(users), part) if users else None


def _in_a_hook(frames: Sequence[Frame]) -> Place | None:
    """The line of a hook that created the op, if one did: the user's frames right below one of Lightwell."""
    last = max((index for index, frame in enumerate(frames) if frame.file.startswith(package.FOLDER)), default=-1)
    users = [frame for frame in frames[last + 1 :] if _is_users(frame)] if last >= 0 else []
    return Place(users[-1].file, users[-1].line, _innermost_name(users), "hook") if users else None


def _innermost_name(frames: Iterable[Frame]) -> str:
    """The name of the innermost function; a lambda that AutoGraph rewrote has none."""
    return [frame.name for frame in frames][-1] or "<lambda>"


def _is_users(frame: Frame) -> bool:
    return not _is_library(frame) and not frame.file.startswith(_INSTALLED)


def _is_library(frame: Frame) -> bool:
    """Whether a frame is of Python, TensorFlow, Keras or Lightwell, or of no file at all."""
    is_standard = frame.file.startswith(_STANDARD) and not frame.file.startswith(_INSTALLED)
    return is_standard or frame.file.startswith((*_LIBRARIES, "<frozen ", "<__"))
