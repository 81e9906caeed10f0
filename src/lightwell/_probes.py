"""Is what Lightwell leans on behind public names still there? Asked of the installed release, not of its number.

`_tf.py` and `interop/doors.py` own what is leaned on; they ask here before they lean, and leave alone what is not there
any more. `lacking` finds out, `tell_once` says so. Imports nothing heavy.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from lightwell.log import logger


def lacking(owner: Any, names: Iterable[str], label: str = "") -> list[str]:
    """Those of `names` that a class, module or object neither has nor, being a class, gives its objects.

    Args:
        owner: the class, module or object.
        names: attributes; most of an object's are set in methods, so a class has what its code mentions.
        label: how to call the owner in the answer.
    """
    label = label or getattr(owner, "__name__", type(owner).__name__)
    mentioned = _mentioned(owner) if isinstance(owner, type) else frozenset[str]()
    return [f"{label}.{name}" for name in names if name not in mentioned and not hasattr(owner, name)]


@functools.cache
def tell_once(release: str, missing: tuple[str, ...], loss: str) -> None:
    """Warn that an installed release lacks something, and what does not work because of it; once in a process.

    Args:
        release: such as `TensorFlow 2.22.0`.
        missing: what it lacks, as `lacking` gives it.
        loss: a sentence.
    """
    logger.warning("%s has no %s, which Lightwell leans on. %s", release, ", ".join(missing), loss)


@functools.cache
def _mentioned(kind: type) -> frozenset[str]:
    return frozenset(name for code in _codes(kind) for name in code.co_names)


def _codes(kind: type) -> Iterator[CodeType]:
    for member in (member for base in kind.__mro__ for member in vars(base).values()):
        parts = (member.fget, member.fset) if isinstance(member, property) else (member,)
        for part in parts:
            code = getattr(inspect.unwrap(part), "__code__", None) if callable(part) else None
            if isinstance(code, CodeType):
                yield code
