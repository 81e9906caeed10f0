"""The recurrent functions of TensorFlow in the book of layers.

Owns `recording_rnn`: while it is open, what `tf.compat.v1.nn.dynamic_rnn` and its kin make of a cell passes the book of
layers once, under the cell's name, as `(outputs, final_state)`, and the caller gets what comes of it. Every function is
put back when it closes.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell._patches import Patches, SharedPatches
from lightwell.layers.record import in_a_loop, looping, open_book, passed_outputs
from lightwell.layers.variables import pieces_of
from lightwell.rnn_cell.record import innermost, record_name


@dataclass(frozen=True, eq=False)
class _Sequence:
    """What a recurrent function did with one cell."""

    cell: Any
    scope: str
    inputs: Any
    outputs: tuple[Any, ...]


# The arguments and the result of a function -> its sequences, and what makes the result of sequences that were changed.
_Reader = Callable[[dict[str, Any], Any], tuple[list[_Sequence], Callable[[Sequence[Any]], Any]]]


def recording_rnn() -> AbstractContextManager[None]:
    """Makes the recurrent functions of TensorFlow pass the book of layers, until the `with` block ends.

    `layers/rnn/lstm_cell` is then the pair of the sequence of outputs and the final state. Inside, the calls that such
    a function makes step by step are not written down.
    """
    return _stand_ins.applied()


def _replace(patches: Patches) -> None:
    originals = {name: getattr(tf.compat.v1.nn, name) for name in _READERS}
    passing = {name: functools.partial(_passing, reader) for name, reader in _READERS.items()}
    patches.put_everywhere((name, was, patches.made(passing[name], was)) for name, was in originals.items())


_stand_ins = SharedPatches(_replace)


def _passing(reader: _Reader, function: Callable[..., Any]) -> Any:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run_and_pass(*args: Any, **kwargs: Any) -> Any:
        if open_book() is None or in_a_loop():
            return function(*args, **kwargs)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        cells = [innermost(given.arguments[name]) for name in ("cell", "cell_fw", "cell_bw") if name in given.arguments]
        before = {id(variable) for variable in tf.compat.v1.global_variables()}
        with looping(f"tf.compat.v1.nn.{function.__name__}", stood_for=cells):
            result = function(*args, **kwargs)
        made = [variable for variable in tf.compat.v1.global_variables() if id(variable) not in before]
        sequences, rebuilt = reader(given.arguments, result)
        passed = [_passed(sequence, made) for sequence in sequences]
        same = all(new is sequence.outputs for new, sequence in zip(passed, sequences, strict=True))
        return result if same else rebuilt(passed)

    return run_and_pass


def _passed(sequence: _Sequence, made: list[Any]) -> Any:
    cell = sequence.cell
    own = _variables_of(cell) or [variable for variable in made if variable.name.startswith(f"{sequence.scope}/")]
    return passed_outputs(
        name=record_name(cell, sequence.scope),
        kind=type(cell).__name__,
        inputs=sequence.inputs,
        outputs=sequence.outputs,
        variables=own,
        layer=cell,
    )


def _variables_of(cell: Any) -> list[Any]:
    # A cell that overrides `__call__` may never have run `RNNCell.__init__`.
    with contextlib.suppress(AttributeError):
        return [piece for variable in cell.variables for piece in pieces_of(variable)]
    return []


def _one_cell(given: dict[str, Any], result: Any) -> Any:
    return [_Sequence(given["cell"], _scope(given, "rnn"), given["inputs"], tuple(result))], lambda passed: passed[0]


def _two_directions(given: dict[str, Any], result: Any) -> Any:
    (out_fw, out_bw), (state_fw, state_bw) = result
    pair = _pair(given, (out_fw, state_fw), (out_bw, state_bw))
    return pair, lambda passed: ((passed[0][0], passed[1][0]), (passed[0][1], passed[1][1]))


def _two_static_directions(given: dict[str, Any], result: Any) -> Any:
    """The outputs of both directions come joined in depth; the width of the first says where to cut."""
    outputs, state_fw, state_bw = result
    sizes = [given["cell_fw"].output_size, given["cell_bw"].output_size]
    if any(tf.nest.is_nested(size) for size in sizes):
        return _pair(given, (state_fw,), (state_bw,)), lambda passed: (outputs, passed[0][0], passed[1][0])
    halves = [tf.split(output, sizes, axis=1) for output in outputs]

    def rebuilt(passed: Sequence[Any]) -> Any:
        (out_fw, new_fw), (out_bw, new_bw) = passed
        return [tf.concat(both, 1) for both in zip(out_fw, out_bw, strict=True)], new_fw, new_bw

    return _pair(given, ([half[0] for half in halves], state_fw), ([half[1] for half in halves], state_bw)), rebuilt


def _raw(given: dict[str, Any], result: Any) -> Any:
    """Only the final state: what `raw_rnn` emits is a TensorArray, which may be read once, by the program."""
    emitted, state, loop_state = result
    state_only = _Sequence(given["cell"], _scope(given, "rnn"), (), (state,))
    return [state_only], lambda passed: (emitted, passed[0][0], loop_state)


def _pair(given: dict[str, Any], forward: tuple[Any, ...], backward: tuple[Any, ...]) -> list[_Sequence]:
    outer = _scope(given, "bidirectional_rnn")
    return [
        _Sequence(given["cell_fw"], f"{outer}/fw", given["inputs"], forward),
        _Sequence(given["cell_bw"], f"{outer}/bw", given["inputs"], backward),
    ]


def _scope(given: dict[str, Any], default: str) -> str:
    """The full name of the scope that a recurrent function opens for its cells."""
    wanted: Any = given["scope"] or default
    if hasattr(wanted, "original_name_scope"):
        return str(wanted.name)
    return "/".join(filter(None, (tf.compat.v1.get_variable_scope().name, wanted)))


_READERS: dict[str, _Reader] = {
    "bidirectional_dynamic_rnn": _two_directions,
    "dynamic_rnn": _one_cell,
    "raw_rnn": _raw,
    "static_bidirectional_rnn": _two_static_directions,
    "static_rnn": _one_cell,
    "static_state_saving_rnn": _one_cell,
}
