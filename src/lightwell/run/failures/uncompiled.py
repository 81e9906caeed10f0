"""Explains why XLA does not compile steps: the ops it does not know, their layers, and what to do.

Takes the error of the first call and the program that ran, returns the sentences for the log.
"""

from __future__ import annotations

import re

import tensorflow as tf

from lightwell.run.failures.program_view import ProgramView
from lightwell.run.failures.step import layer_of

_UNKNOWN = re.compile(r"(\w+) \(No registered '\w+' OpKernel for \w+ devices compatible with node \{\{node ([^}]+)\}\}")
_COPY = "step/"
_LONGEST_REASON = 300
_SPARSE = (
    "Columns of categories are looked up by sparse ops, and some optimizers update what was looked up by them. An "
    "indicator_column is compiled, and tf.nn.embedding_lookup of ids in a dense tensor, trained by Adam or by gradient "
    "descent; else leave jit_compile off for this model."
)
_OTHERS = "Compute it in input_fn, by dataset.map, if it needs no variable; else leave jit_compile off for this model."


def why_xla_refused(error: tf.errors.OpError, program: ProgramView) -> str:
    """Sentences, the last one without its full stop.

    Args:
        error: the error of the compiled call.
        program: the program that ran.
    """
    text = str(error.message)
    unknown: dict[str, str] = {}
    for kind, name in _UNKNOWN.findall(text):
        unknown.setdefault(kind, name.removeprefix(_COPY))
    if not unknown:  # its message, without source positions and the list of all ops
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return " ".join(lines[:2])[:_LONGEST_REASON].rstrip(".")
    (kind, name), *others = unknown.items()
    more = f", nor {', '.join(kind for kind, _ in others)}" if others else ""
    to_do = _SPARSE if any("Sparse" in kind for kind in unknown) else _OTHERS
    return f"XLA does not know {kind}, the op {name!r}{_within(name, program)}{more}. {to_do}".rstrip(".")


def _within(name: str, program: ProgramView) -> str:
    try:
        op = program.graph.get_operation_by_name(name)
    except KeyError:  # it is inside a function
        return ""
    layer = layer_of(op, program)
    return "" if layer is None else f" of layers/{layer}"
