"""Kinds of parts that programs are made of: which there are, what they may be given, which source they stand for.

Owns the table. A part is a function with a decorator that says how its arguments are drawn; its source becomes part of
the program that is run, so it may use nothing but `np`, `tf`, `v1`, `os`, its arguments and what `uses` names.
"""

from __future__ import annotations

import functools
import inspect
import random
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Whole:
    """A whole number from `low` to `high`, both included."""

    low: int
    high: int

    def draw(self, rng: random.Random) -> int:
        return rng.randint(self.low, self.high)

    def smaller(self, value: Any) -> Iterator[int]:
        """Values to try in place of this one, the boldest first."""
        seen = set()
        for tried in (self.low, (self.low + value) // 2, value - 1):
            if self.low <= tried < value and tried not in seen:
                seen.add(tried)
                yield tried


@dataclass(frozen=True)
class OneOf:
    """One of some values; the first is the simplest."""

    values: tuple[Any, ...]

    def draw(self, rng: random.Random) -> Any:
        return rng.choice(self.values)

    def smaller(self, value: Any) -> Iterator[Any]:
        if value in self.values:
            yield from self.values[: self.values.index(value)]


def one_of(*values: Any) -> OneOf:
    return OneOf(values)


SEED = Whole(1, 99)
FLAG = one_of(False, True)


@dataclass(frozen=True)
class Kind:
    """A kind of part.

    Attributes:
        family: where it can stand: `source`, `stage`, `block`, …
        name: its name, which is that of its function.
        function: the function itself.
        draws: how each argument is drawn.
        uses: functions and classes whose source it needs.
        needs: features that the input must have.
        names: tensors that a hook may look at, by name.
        tags: what ways and comparisons must know: `random`, `python`, `file`, …
        weight: how often it is drawn.
    """

    family: str
    name: str
    function: Callable[..., Any]
    draws: Mapping[str, Any]
    uses: tuple[Any, ...] = ()
    needs: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    weight: float = 1.0

    def drawn(self, rng: random.Random) -> Part:
        return Part(self.family, self.name, {name: how.draw(rng) for name, how in self.draws.items()})


@dataclass(frozen=True)
class Part:
    """A part of a program: a kind, and what its function is given."""

    family: str
    kind: str
    args: Mapping[str, Any] = field(default_factory=dict)

    @property
    def what(self) -> Kind:
        return KINDS[self.family, self.kind]

    def call(self, *first: str) -> str:
        """The expression that calls its function."""
        return f"{self.kind}({', '.join([*first, *(f'{name}={value!r}' for name, value in self.args.items())])})"


KINDS: dict[tuple[str, str], Kind] = {}


def part(family: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters a function in the table; settings that `Kind` does not know are draws of its arguments."""
    known = {name: settings.pop(name) for name in ("uses", "names", "weight") if name in settings}
    sets = {name: frozenset(settings.pop(name)) for name in ("needs", "tags") if name in settings}

    def entered(function: Callable[..., Any]) -> Callable[..., Any]:
        # Programs hold all their functions side by side.
        assert function.__name__ not in {name for _, name in KINDS}, function.__name__
        kind = Kind(family, function.__name__, function, settings, **known, **sets)
        KINDS[family, kind.name] = kind
        return function

    return entered


def kinds(family: str) -> list[Kind]:
    return [kind for (of, _), kind in KINDS.items() if of == family]


@functools.cache
def source_of(made: Any) -> str:
    """The source of a function or class, without its decorators of this file."""
    text = textwrap.dedent(inspect.getsource(made))
    return re.sub(r"\A(@part\(.*?\)\n)(?=def |class )", "", text, flags=re.DOTALL)
