"""`Step`: what a watch hands to its function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lightwell.errors import PathError
from lightwell.inside.paths.nearest import nearest_paths


class Step(Mapping[str, Any]):
    """What a watch sees at one step: values by path, as NumPy arrays (or `Stats`, `Histogram`).

    The end of a path is enough where it is the only one: `step["kernel"]`.

    Attributes:
        global_step: the step counter, counting the step that just ran.
        mode: the mode that is running, a `ModeKeys` value.
        batch: which batch of this run it is, from 1.
        examples: how many examples the batch has; None where it was not read.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        *,
        global_step: int,
        batch: int,
        mode: str,
        stop: Callable[[], None],
        edit: Callable[[str, Any], None],
        examples: int | None = None,
    ) -> None:
        self._values = values
        self._stop = stop
        self._edit = edit
        self.global_step = global_step
        self.batch = batch
        self.mode = mode
        self.examples = examples

    def stop(self) -> None:
        """Ends the run after this step; training saves its last checkpoint as usual."""
        self._stop()

    def edit(self, path: str, value: Any) -> None:
        """Changes a weight of the training; the next step computes with it, and the next checkpoint's lineage tells.

        Args:
            path: `weights/dense/kernel`, or optimizer state, `slots/dense/kernel/Adam`.
            value: an array of the same shape, or a function of the present value.

        Example:
            `lw.Watch("loss", every=9, do=lambda step: step.edit("weights/dense/kernel", lambda w: w.clip(-1, 1)))`

        Raises:
            PathError: there is no such weight.
            UsageError: shape or type do not fit, or the run is no training.
        """
        self._edit(path, value)

    def __getitem__(self, path: str) -> Any:
        if path in self._values:
            return self._values[path]
        alone = [name for name in self._values if name.endswith(f"/{path}")]
        if len(alone) == 1:
            return self._values[alone[0]]
        close = alone or nearest_paths(path, self._values) or list(self._values)
        raise PathError(f"This watch reads no {path!r}; it reads {', '.join(map(repr, close[:5]))}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Step({self.global_step}, {list(self._values)})"
