"""Classes that stand for classes of `tf.estimator` that are not written yet.

Packages derive from such classes and name them in annotations while they are imported, long before anybody uses them.
So the name is a class; making an object of it, or of a class derived from it, raises what to use instead.
"""

from __future__ import annotations

import abc
import functools
from typing import Any, NoReturn


class StandIn(abc.ABCMeta):
    """The kind of these classes. An `ABCMeta`, because the originals could be combined with abstract classes."""

    spelled: str
    hint: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        derives = "" if cls.__name__ == cls.spelled.rpartition(".")[2] else f"{cls.__qualname__} derives from "
        which = ", which" if derives else ""
        raise AttributeError(
            f"{derives}{cls.spelled}{which} does not exist in Lightwell. {cls.hint}", name=cls.__name__
        )

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}", name=name)
        raise AttributeError(f"{cls.spelled}.{name} does not exist in Lightwell. {cls.hint}", name=name)


@functools.cache
def stand_in(spelled: str, hint: str) -> type:
    """The class that stands for one, always the same.

    Args:
        spelled: how users write it, such as `tf.estimator.Exporter`.
        hint: a sentence that says what to use instead.
    """
    module, _, name = spelled.rpartition(".")
    doc = f"Stands for {spelled}, which does not exist in Lightwell. {hint}"
    return StandIn(name, (), {"__module__": module, "__doc__": doc, "spelled": spelled, "hint": hint})
