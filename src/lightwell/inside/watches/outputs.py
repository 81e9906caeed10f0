"""Where tapped values go: to a function, the log, TensorBoard. A watch reads; an output takes what it read.

`over_data.py` has one more, statistics over a whole data set, and `captures` another, rows on disk. To add one is to
write another `Output`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lightwell.base.log import logger
from lightwell.errors import WatchError
from lightwell.inside.paths.request import TapItem
from lightwell.inside.watches.step import Step
from lightwell.inside.watches.to_tensorboard import write_values
from lightwell.run import events


class Output:
    """Takes the looks of a watch.

    Attributes:
        only_records: it acts on nothing, so that it may be handed several steps in a row, a little late.
        is_result: what it takes becomes part of a verb's result, so that only what has a value there may be read.
        needs_examples: it keeps a row for each example: only what has one may be read, and a step says how many there
            are.
    """

    only_records = True
    is_result = False
    needs_examples = False

    def start(self, name: str, directory: str) -> None:
        """A run begins: the name of the watch, and where the run's events go."""

    def reads(self, items: Sequence[TapItem]) -> None:
        """Receives the values that the watch will read."""

    def take(self, step: Step) -> None:
        """One look."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it does with a step.")

    def end(self) -> None:
        """The run is over, without an error."""


class ToFunction(Output):
    """Calls a function of the user's, which may stop the run."""

    only_records = False

    def __init__(self, function: Callable[[Step], Any]) -> None:
        self._function = function
        self._name = ""

    def start(self, name: str, directory: str) -> None:
        self._name = name

    def take(self, step: Step) -> None:
        try:
            self._function(step)
        except Exception as error:
            function = getattr(self._function, "__name__", repr(self._function))
            raise WatchError(
                f"{self._name}: its function {function} raised {type(error).__name__} at step {step.global_step}: "
                f"{error}"
            ) from error


class ToLog(Output):
    """Writes a line: numbers as they are, of arrays type, shape and mean."""

    def __init__(self) -> None:
        self._name = ""

    def start(self, name: str, directory: str) -> None:
        self._name = name

    def take(self, step: Step) -> None:
        shown = ", ".join(f"{path} = {_short(value)}" for path, value in step.items())
        logger.info("%s at step %d: %s", self._name, step.global_step, shown)


class ToTensorBoard(Output):
    """Writes scalars and histograms into the event files of the run."""

    def __init__(self) -> None:
        self._directory = ""

    def start(self, name: str, directory: str) -> None:
        self._directory = directory

    def take(self, step: Step) -> None:
        write_values(self._directory, step, step.global_step)

    def end(self) -> None:
        events.flush(self._directory)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        if not np.issubdtype(value.dtype, np.number) or not value.size:
            return f"{value.dtype}{list(value.shape)}"
        return f"{value.dtype}{list(value.shape)} mean {value.mean():.4g}"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
