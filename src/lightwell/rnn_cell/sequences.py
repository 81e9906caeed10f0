"""The recurrent functions of TensorFlow in the book of layers.

Owns `recording_rnn`: while it is open, what `tf.compat.v1.nn.dynamic_rnn` and its kin make of a cell is written down
once, under the cell's name, as `(outputs, final_state)`. Every function is put back when it closes.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf

from lightwell._patches import Patches, SharedPatches
from lightwell.layers.record import LayerBook, record_call, recording
from lightwell.layers.variables import pieces_of
from lightwell.rnn_cell.record import record_name

# What a recurrent function did with one cell: the cell, the scope, the inputs, the outputs.
_Sequence = tuple[Any, str, Any, Any]


def recording_rnn() -> AbstractContextManager[None]:
    """Makes the recurrent functions of TensorFlow write into the book of layers, until the `with` block ends.

    `layers/rnn/lstm_cell` is then the pair of the sequence of outputs and the final state. Inside, the calls that such
    a function makes step by step are not written down.
    """
    return _stand_ins.applied()


def _replace(patches: Patches) -> None:
    originals = {name: getattr(tf.compat.v1.nn, name) for name in _READERS}
    patches.put_everywhere((name, was, _recorded(was, _READERS[name])) for name, was in originals.items())


_stand_ins = SharedPatches(_replace)


def _recorded(function: Callable[..., Any], reader: Callable[[dict[str, Any], Any], list[_Sequence]]) -> Any:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run_and_record(*args: Any, **kwargs: Any) -> Any:
        before = {id(variable) for variable in tf.compat.v1.global_variables()}
        with recording(LayerBook()):
            result = function(*args, **kwargs)
        made = [variable for variable in tf.compat.v1.global_variables() if id(variable) not in before]
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for sequence in reader(bound.arguments, result):
            _write_down(sequence, made)
        return result

    return run_and_record


def _write_down(sequence: _Sequence, made: list[Any]) -> None:
    cell, scope, inputs, outputs = sequence
    name = record_name(cell, scope)
    own = _variables_of(cell) or [variable for variable in made if variable.name.startswith(f"{scope}/")]
    record_call(name=name, kind=type(cell).__name__, inputs=inputs, outputs=outputs, variables=own, layer=cell)


def _variables_of(cell: Any) -> list[Any]:
    # A cell that overrides `__call__` may never have run `RNNCell.__init__`.
    with contextlib.suppress(AttributeError):
        return [piece for variable in cell.variables for piece in pieces_of(variable)]
    return []


def _one_cell(given: dict[str, Any], result: Any) -> list[_Sequence]:
    return [(given["cell"], _scope(given, "rnn"), given["inputs"], tuple(result))]


def _two_directions(given: dict[str, Any], result: Any) -> list[_Sequence]:
    outer = _scope(given, "bidirectional_rnn")
    (out_fw, out_bw), (state_fw, state_bw) = result
    return [
        (given["cell_fw"], f"{outer}/fw", given["inputs"], (out_fw, state_fw)),
        (given["cell_bw"], f"{outer}/bw", given["inputs"], (out_bw, state_bw)),
    ]


def _two_static_directions(given: dict[str, Any], result: Any) -> list[_Sequence]:
    """The outputs of both directions come joined in depth; the width of the first says where to cut."""
    outer = _scope(given, "bidirectional_rnn")
    outputs, state_fw, state_bw = result
    fw, bw = given["cell_fw"], given["cell_bw"]
    parts: tuple[Any, Any] = (state_fw,), (state_bw,)
    if not (tf.nest.is_nested(fw.output_size) or tf.nest.is_nested(bw.output_size)):
        halves = [tf.split(output, [fw.output_size, bw.output_size], axis=1) for output in outputs]
        parts = ([half[0] for half in halves], state_fw), ([half[1] for half in halves], state_bw)
    return [(fw, f"{outer}/fw", given["inputs"], parts[0]), (bw, f"{outer}/bw", given["inputs"], parts[1])]


def _raw(given: dict[str, Any], result: Any) -> list[_Sequence]:
    """Only the final state: what `raw_rnn` emits is a TensorArray, which may be read once, by the program."""
    return [(given["cell"], _scope(given, "rnn"), (), (result[1],))]


def _scope(given: dict[str, Any], default: str) -> str:
    """The full name of the scope that a recurrent function opens for its cells."""
    wanted: Any = given["scope"] or default
    if hasattr(wanted, "original_name_scope"):
        return str(wanted.name)
    return "/".join(filter(None, (tf.compat.v1.get_variable_scope().name, wanted)))


_READERS: dict[str, Callable[[dict[str, Any], Any], list[_Sequence]]] = {
    "bidirectional_dynamic_rnn": _two_directions,
    "dynamic_rnn": _one_cell,
    "raw_rnn": _raw,
    "static_bidirectional_rnn": _two_static_directions,
    "static_rnn": _one_cell,
    "static_state_saving_rnn": _one_cell,
}
