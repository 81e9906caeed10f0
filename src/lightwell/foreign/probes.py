"""Probes: whether the installed TensorFlow or Keras has the private names that Lightwell uses.

The private doors call `missing_attributes` before they use a private name, and `warn_once` if it is missing. The check
looks at the installed code, not at version numbers.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from lightwell.base.log import logger


def missing_attributes(owner: Any, names: Iterable[str], label: str = "") -> list[str]:
    """Those of `names` that a class, module or object lacks.

    Args:
        owner: the class, module or object.
        names: attributes. A class also has those that its methods mention, because methods set them.
        label: the owner's name in the result.
    """
    label = label or getattr(owner, "__name__", type(owner).__name__)
    mentioned = _mentioned(owner) if isinstance(owner, type) else frozenset[str]()
    return [f"{label}.{name}" for name in names if name not in mentioned and not hasattr(owner, name)]


@functools.cache
def warn_once(release: str, missing: tuple[str, ...], loss: str) -> None:
    """Warn once per process that a release lacks private names, and which feature is lost.

    Args:
        release: such as `TensorFlow 2.22.0`.
        missing: the result of `missing_attributes`.
        loss: a sentence about the lost feature.
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
