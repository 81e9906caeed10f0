"""From taps to the values of batches: what to fetch of each step, and what was fetched, as rows for examples.

Turns the outputs of steps into values by path, of all steps of a call together where they are plain arrays.
What has no row for each example is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lightwell.errors import UsageError
from lightwell.inside.captures.kinds import DENSE, Array, Kind, kind_of
from lightwell.inside.paths.batch import batch_size, has_examples
from lightwell.inside.paths.request import TapItem, make_request
from lightwell.inside.watches.outputs import Output
from lightwell.inside.watches.step import Step
from lightwell.run.engine.program import Program
from lightwell.run.engine.step_outputs import StepOutputs

_EXAMPLES = " examples"  # a key no path can have


class CaptureTaps:
    """The taps of a capture.

    Args:
        program: what will run; its graph must still be open.
        taps: what to read.
        where: who asks, for errors.

    Attributes:
        kinds: what is read, in order.
        fetches: what to keep of each step.

    Raises:
        PathError: a path names nothing.
        UsageError: a value has no row for each example.
    """

    def __init__(self, program: Program, taps: Sequence[Any], where: str) -> None:
        request = make_request(program, taps, where, as_taps=True, by_example=True)
        self.kinds = _kinds(request.items)
        self.fetches: dict[str, Any] = {**request.fetches, _EXAMPLES: batch_size(program)}
        self._keys = {item.entry.path: item.key for item in request.items}
        self._is_plain = all(kind.form == DENSE for kind in self.kinds)

    def batch_values(
        self, outputs: StepOutputs, structure: Callable[[Sequence[Any]], Any]
    ) -> Iterator[tuple[Array, Mapping[str, Any]]]:
        """The outputs of a call: for some batches, the number of examples of each, and the values of all, by path.

        Args:
            outputs: the outputs of the steps.
            structure: makes what has the structure of `fetches` of them.
        """
        if self._is_plain and outputs.lengths:
            values, lengths = structure(outputs.joined()), structure(outputs.lengths)
            sizes = np.asarray(values[_EXAMPLES], np.int64)
            if all(np.array_equal(lengths[key], sizes) for key in self._keys.values()):
                yield sizes, {path: values[key] for path, key in self._keys.items()}
                return
        for step in range(outputs.steps):
            of_step = structure(outputs.of_step(step))
            examples = int(of_step[_EXAMPLES])
            batch_values = {path: of_step[key] for path, key in self._keys.items()}
            check_rows(batch_values, examples)
            yield np.array([examples], np.int64), batch_values


class ToRows(Output):
    """The output of a watch that keeps the values of all examples in memory.

    Attributes:
        values: path -> the value of each batch so far.
    """

    is_result = True
    needs_examples = True

    def __init__(self) -> None:
        self.values: dict[str, list[Array]] = {}
        self._keys: dict[str, str] = {}

    def reads(self, items: Sequence[TapItem]) -> None:
        """Learns what will come."""
        self._keys = {item.entry.path: item.key for item in items}
        self.begin()

    def begin(self) -> None:
        """Forgets what came before."""
        self.values = {path: [] for path in self._keys}

    def take(self, step: Step) -> None:
        """Keeps a batch."""
        values_by_path = {path: step[key] for path, key in self._keys.items()}
        check_rows(values_by_path, int(step.examples or 0))
        for path, value in values_by_path.items():
            self.values[path].append(value)


def check_rows(values: Mapping[str, Any], examples: int) -> None:
    """Refuses values without one row for each example.

    Raises:
        UsageError: a value is not.
    """
    for path, value in values.items():
        if not has_examples(value, examples):
            raise UsageError(
                f"capture: {path!r} is not made of one row for each example: in a batch of {examples} examples it "
                f"has the shape {list(np.shape(value))}. Leave it out: name the paths that you want."
            )


def _kinds(items: Sequence[TapItem]) -> tuple[Kind, ...]:
    by_path = {item.entry.path: kind_of(item.entry.path, item.entry.tensor) for item in items}
    return tuple(by_path.values())
