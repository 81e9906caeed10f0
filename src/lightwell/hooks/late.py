"""Fetches that have to wait: what a step leaves behind is read by a run of its own once the step is over.

Takes a hook's structure of fetches with `Late` values in it; gives the part that a step can fetch, and puts the results
together again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Late:
    """A fetch to be made by itself, once the step is over.

    Attributes:
        tensor: what to fetch then: a variable after the step has changed it, a metric that has taken the batch in.
    """

    tensor: Any


def with_step(fetches: Any) -> Any:
    """The fetches with nothing in the places of what comes later."""
    return _mapped(fetches, lambda late: [])


def has_late(fetches: Any) -> bool:
    """Whether anything in a structure has to wait."""
    if isinstance(fetches, Mapping):
        return any(map(has_late, fetches.values()))
    return any(map(has_late, fetches)) if isinstance(fetches, list | tuple) else isinstance(fetches, Late)


def joined(fetches: Any, fetched: Any, run: Callable[[list[Any]], list[Any]]) -> Any:
    """What a hook is handed: the results of the step, and what has waited.

    Args:
        fetches: what the hook asked for.
        fetched: what the step gave for `with_step(fetches)`.
        run: fetches a list of tensors.
    """
    waiting: list[Any] = []
    _mapped(fetches, lambda late: waiting.append(late.tensor))
    values = iter(run(waiting))
    return _joined(fetches, fetched, values)


def _joined(fetches: Any, fetched: Any, values: Any) -> Any:
    if isinstance(fetches, Late):
        return next(values)
    if isinstance(fetches, Mapping):
        same_type: Any = type(fetched)
        return same_type((key, _joined(part, fetched[key], values)) for key, part in fetches.items())
    if isinstance(fetches, list | tuple):
        parts = [_joined(part, one, values) for part, one in zip(fetches, fetched, strict=True)]
        return _like(fetches, parts)
    return fetched


def _mapped(fetches: Any, change: Callable[[Late], Any]) -> Any:
    if isinstance(fetches, Late):
        return change(fetches)
    if isinstance(fetches, Mapping):
        same_type: Any = type(fetches)
        return same_type((key, _mapped(part, change)) for key, part in fetches.items())
    return _like(fetches, [_mapped(part, change) for part in fetches]) if isinstance(fetches, list | tuple) else fetches


def _like(sequence: Any, parts: list[Any]) -> Any:
    kind = type(sequence)
    return kind(*parts) if hasattr(sequence, "_fields") else kind(parts)
