"""The recurrent functions of TensorFlow in the book of layers.

Owns `recording_rnn`: while it is open, what `tf.compat.v1.nn.dynamic_rnn` and its kin give to a cell, the whole
sequence, and what they make of it, `(outputs, final_state)`, pass the book of layers once, under the cell's name. Every
function is put back when it closes.
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

from lightwell.base.log import without_lines_about
from lightwell.foreign import private_tf
from lightwell.foreign.patches import Patches, SharedPatches
from lightwell.model.layers.record import BookCall, inside_loop, is_in_loop, open_book
from lightwell.model.layers.variables import pieces_of
from lightwell.model.rnn_cell.record import innermost, name_ahead, record_name


@dataclass(frozen=True, eq=False)
class _Run:
    """One cell of a recurrent function.

    Attributes:
        argument: the name of the function's argument for the cell.
        cell: the cell.
        scopes: the variable scopes that the function opens for it, the outer one first.
    """

    argument: str
    cell: Any
    scopes: tuple[Any, ...]

    @property
    def scope(self) -> str:
        """The full name of the innermost scope."""
        name = tf.compat.v1.get_variable_scope().name
        for scope in self.scopes:
            name = scope.name if hasattr(scope, "original_name_scope") else "/".join(filter(None, (name, scope)))
        return str(name)

    def name_ahead(self) -> str:
        """The name of the cell's call in the book, before it runs."""
        with private_tf.preserve_scope_counts(), contextlib.ExitStack() as opened:
            for scope in self.scopes:
                opened.enter_context(tf.compat.v1.variable_scope(scope, auxiliary_name_scope=False))
            return name_ahead(self.cell)


# The arguments and the result of a function -> the outputs of each cell, and what makes the result of changed ones.
_Reader = Callable[[dict[str, Any], Any], tuple[list[tuple[Any, ...]], Callable[[Sequence[Any]], Any]]]


def recording_rnn() -> AbstractContextManager[None]:
    """Makes the recurrent functions of TensorFlow pass the book of layers, until the `with` block ends.

    `layers/rnn/lstm_cell` is then the pair of the sequence of outputs and the final state. Inside, the calls that such
    a function makes step by step are not written down.
    """
    return _stand_ins.applied()


def _replace(patches: Patches) -> None:
    originals = {name: getattr(tf.compat.v1.nn, name) for name in _READERS}
    passing = {name: functools.partial(_passing, reader) for name, reader in _READERS.items()}
    patches.put_everywhere((name, was, patches.wrapped(passing[name], was)) for name, was in originals.items())


_stand_ins = SharedPatches(_replace)


def _passing(reader: _Reader, function: Callable[..., Any]) -> Any:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run_and_pass(*args: Any, **kwargs: Any) -> Any:
        if open_book() is None or is_in_loop():
            return function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        runs = _runs(bound.arguments)
        booked = [BookCall(name=run.name_ahead, kind=type(run.cell).__name__, layer=run.cell) for run in runs]
        changed = _changed_arguments(bound.arguments, runs, booked)
        before = {id(variable) for variable in tf.compat.v1.global_variables()}
        # TensorFlow would log that the function is deprecated, and name the line below as its caller.
        quiet = without_lines_about(f"{function.__name__} (from")
        with quiet, inside_loop(f"tf.compat.v1.nn.{function.__name__}", covered=[innermost(run.cell) for run in runs]):
            result = function(**changed) if changed else function(*args, **kwargs)
        created = [variable for variable in tf.compat.v1.global_variables() if id(variable) not in before]
        outputs, rebuilt = reader(bound.arguments, result)
        after = [_pass_outputs(*one, created) for one in zip(booked, runs, outputs, strict=True)]
        same = all(new is old for new, old in zip(after, outputs, strict=True))
        return result if same else rebuilt(after)

    return run_and_pass


def _runs(arguments: dict[str, Any]) -> list[_Run]:
    if "cell" in arguments:
        return [_Run("cell", arguments["cell"], (arguments["scope"] or "rnn",))]
    outer = arguments["scope"] or "bidirectional_rnn"
    return [_Run(f"cell_{way}", arguments[f"cell_{way}"], (outer, way)) for way in ("fw", "bw")]


def _changed_arguments(arguments: dict[str, Any], runs: list[_Run], booked: list[BookCall]) -> dict[str, Any]:
    """All arguments, if an edit changed the inputs of a cell; else none.

    Two cells share their inputs. If an edit makes them differ, each step has both, and each cell selects its own.
    """
    inputs = arguments.get("inputs", ())  # `raw_rnn` calls a function for them in each step
    taken = [one.pass_inputs(inputs) for one in booked]
    if all(one is inputs for one in taken):
        return {}
    if len(taken) == 1:
        return {**arguments, "inputs": taken[0]}
    cells = {run.argument: _TakesOne(run.cell, place) for place, run in enumerate(runs)}
    steps = [*zip(*taken, strict=True)] if "time_major" not in arguments else tuple(taken)
    return {**arguments, **cells, "inputs": steps}


class _TakesOne:
    """A cell that takes one of several inputs of a step."""

    def __init__(self, cell: Any, place: int) -> None:
        self._cell, self._place = cell, place

    def __call__(self, inputs: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        return self._cell(inputs[self._place], state, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cell, name)


def _pass_outputs(booked: BookCall, run: _Run, outputs: tuple[Any, ...], created: list[Any]) -> Any:
    own = _variables_of(run.cell) or [variable for variable in created if variable.name.startswith(f"{run.scope}/")]
    return booked.pass_outputs(outputs, variables=own, name=record_name(run.cell, run.scope))


def _variables_of(cell: Any) -> list[Any]:
    # A cell that overrides `__call__` may never have run `RNNCell.__init__`.
    with contextlib.suppress(AttributeError):
        return [piece for variable in cell.variables for piece in pieces_of(variable)]
    return []


def _one_cell(arguments: dict[str, Any], result: Any) -> Any:
    return [tuple(result)], lambda passed: passed[0]


def _two_directions(arguments: dict[str, Any], result: Any) -> Any:
    (out_fw, out_bw), (state_fw, state_bw) = result
    pair = [(out_fw, state_fw), (out_bw, state_bw)]
    return pair, lambda passed: ((passed[0][0], passed[1][0]), (passed[0][1], passed[1][1]))


def _two_static_directions(arguments: dict[str, Any], result: Any) -> Any:
    """The outputs of both directions come joined in depth; the width of the first says where to cut."""
    outputs, state_fw, state_bw = result
    sizes = [arguments["cell_fw"].output_size, arguments["cell_bw"].output_size]
    if any(tf.nest.is_nested(size) for size in sizes):
        return [(state_fw,), (state_bw,)], lambda passed: (outputs, passed[0][0], passed[1][0])
    halves = [tf.split(output, sizes, axis=1) for output in outputs]

    def rebuilt(passed: Sequence[Any]) -> Any:
        (out_fw, new_fw), (out_bw, new_bw) = passed
        return [tf.concat(both, 1) for both in zip(out_fw, out_bw, strict=True)], new_fw, new_bw

    return [([half[0] for half in halves], state_fw), ([half[1] for half in halves], state_bw)], rebuilt


def _raw(arguments: dict[str, Any], result: Any) -> Any:
    """Only the final state: what `raw_rnn` emits is a TensorArray, which may be read once, by the program."""
    emitted, state, loop_state = result
    return [(state,)], lambda passed: (emitted, passed[0][0], loop_state)


_READERS: dict[str, _Reader] = {
    "bidirectional_dynamic_rnn": _two_directions,
    "dynamic_rnn": _one_cell,
    "raw_rnn": _raw,
    "static_bidirectional_rnn": _two_static_directions,
    "static_rnn": _one_cell,
    "static_state_saving_rnn": _one_cell,
}
