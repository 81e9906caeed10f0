"""`tf.keras` of TensorFlow 1: today's Keras, with the names of Keras 2 and the defaults of 1.15.

The same pages answer for `tf.contrib.keras` and for the private modules below `tensorflow.python.keras`. A name is
looked up among the defaults of 1.15, in today's Keras, in the table of names that Keras 3 dropped, and for a private
module among what TensorFlow still has there. Using a page changes nothing; arguments and methods of Keras 2 work under
`lightwell run` and `lightwell.install()`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from lightwell.base.lazy import refuse, resolve
from lightwell.compat.keras2 import doors
from lightwell.compat.names import absent_text

_VERSION_1 = "lightwell.compat.keras2.version1"
_COSINE = "lightwell.compat.keras2.losses:cosine_proximity"
_COSINES = dict.fromkeys(("cosine", "cosine_proximity", "cosine_similarity"), _COSINE)
_OPTIMIZERS = {
    name: f"lightwell.compat.keras2.pages.legacy_optimizers:{name}"
    for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD")
}
_IN_1: Mapping[str, Mapping[str, str]] = {
    "layers": {name: f"{_VERSION_1}:{name}" for name in ("GRU", "GRUCell", "LSTM", "LSTMCell")},
    "losses": _COSINES,
    "metrics": _COSINES,
    "optimizers": _OPTIMIZERS,
    "optimizers.legacy": _OPTIMIZERS,
}
_PRIVATE = "tensorflow.python.keras"
# The public modules that have the names of a private one.
_PUBLIC_OF: Mapping[str, tuple[str, ...]] = {
    "engine": ("layers", "models", ""),
    "layers": ("layers",),
    "optimizer_v2": ("optimizers", "optimizers.schedules"),
    "saving": ("models",),
}


class KerasPage(ModuleType):
    """A module of `tf.keras` as TensorFlow 1 had it.

    Args:
        path: the module's name below `tf.keras`; "" is `tf.keras` itself.
        private: its name below `tensorflow.python.keras`, where it is a private module; its names are looked up in
            several public ones then.
    """

    def __init__(self, path: str, private: str | None = None) -> None:
        below = path if private is None else private
        super().__init__(f"{__name__}{'.' * bool(below)}{below}", "tf.keras of TensorFlow 1.")
        self._path, self._private = path, private
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [public for public in self.__dir__() if not public.startswith("_")]
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        for path in self._public():
            value = _public(path, name)
            if value is not None:
                return self._page_of(value, path, name)
        value = self._in_private(name)
        return value if value is not None else self._refuse(name)

    def __dir__(self) -> list[str]:
        names = {name for path in self._public() for name in [*dir(_today(path)), *doors.NAMES.get(path, {})]}
        return sorted(name for name in names if not name.startswith("_"))

    def _public(self) -> Sequence[str]:
        if self._private is None:
            return (self._path,)
        first = self._private.partition(".")[0]
        same = (self._private,) if self._private != first and _today(self._private) is not None else ()
        return (*same, *_PUBLIC_OF.get(first, (first,))) if first else ("",)

    def _page_of(self, value: Any, path: str, name: str) -> Any:
        if not isinstance(value, ModuleType) or isinstance(value, KerasPage) or name == "saving":
            return value
        if self._private is not None:
            return page(".".join(filter(None, (self._private, name))), is_private=True)
        return page(".".join(filter(None, (path, name))))

    def _in_private(self, name: str) -> Any:
        """What TensorFlow still has in a private module: its helpers, and the modules below it."""
        if self._private is None:
            return None
        below = ".".join(filter(None, (self._private, name)))
        if _exists(below):
            return page(below, is_private=True)
        return getattr(_module(self._private), name, None) if _exists(self._private) else None

    def _refuse(self, name: str) -> Any:
        shown = ".".join(filter(None, ("tf.keras", self._path or self._private)))
        hints = [absent_text(path, name) for path in self._public() if name in doors.ABSENT.get(path, {})]
        hint = next(iter(hints), "`lightwell doctor` lists what a program uses.")
        return refuse(f"{shown}.{name} does not exist in Lightwell. {hint}", self.__name__, name)


@functools.cache
def page(below: str, is_private: bool = False) -> KerasPage:
    """The page of a module below `tf.keras`, or of a private one below `tensorflow.python.keras`."""
    return KerasPage("", below) if is_private else KerasPage(below)


def page_of_import(path: Sequence[str]) -> Any:
    """What an import of `tensorflow.<path>` gives, if that is a module of Keras; else None."""
    match list(path):
        case ["python", "keras", *rest] | ["contrib", "keras", "python", "keras", *rest]:
            return page(".".join(rest), is_private=True)
        case ["contrib", "keras", "api", "keras", *rest] | ["contrib", "keras", *rest] | ["keras", *rest]:
            return functools.reduce(getattr, rest, page(""))
    return None


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(page(""), name)


def __dir__() -> list[str]:
    return dir(page(""))


def _public(path: str, name: str) -> Any:
    """A name of a public module, or None."""
    below = ".".join(filter(None, (path, name)))
    is_keras2 = _today("").__name__.startswith("tf_keras")
    target = None if is_keras2 else _IN_1.get(path, {}).get(name)
    if target is not None:
        return resolve(target)
    today = _today(path)
    if today is not None and hasattr(today, name):
        return getattr(today, name)
    target = doors.NAMES.get(path, {}).get(name) or doors.PAGES.get(below)
    return None if target is None else resolve(target)


def _today(path: str) -> Any:
    keras = importlib.import_module("tensorflow").keras
    for part in filter(None, path.split(".")):
        keras = getattr(keras, part, None)
    return keras


def _exists(private: str) -> bool:
    name = ".".join(filter(None, (_PRIVATE, private)))
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _module(private: str) -> ModuleType:
    return importlib.import_module(".".join(filter(None, (_PRIVATE, private))))
