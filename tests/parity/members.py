"""Which members of `Estimator` a subclass may override, whether verbs notice, and which fields an object has.

The same code makes the recording (with `tf.estimator`) and the comparison (with `lightwell`).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.parity.hook_scenes import batches
from tests.parity.mistakes.verbs import VERBS, model

NOT_MEMBERS = {"__dict__", "__weakref__", "__doc__", "__module__", "__init__"}


def members_of(kind: type) -> list[str]:
    """All names that a class and its bases bring."""
    return sorted({name for part in kind.__mro__[:-1] for name in vars(part)} - NOT_MEMBERS)


def verdicts(lib: Any, names: Iterable[str], model_dir: Path) -> dict[str, str]:
    """For each member `fine` or `refused`: a class that overrides it is defined, and an object of it made."""
    return {name: _verdict(lib, name, model_dir) for name in names}


def _verdict(lib: Any, name: str, model_dir: Path) -> str:
    is_property = isinstance(inspect.getattr_static(lib.Estimator, name, None), property)
    override = property(lambda self: None) if is_property else lambda self, *args, **kwargs: None
    try:
        type("Own", (lib.Estimator,), {name: override})(model(lib), str(model_dir))
    except ValueError as error:
        return "refused" if "cannot override members of Estimator" in str(error) else str(error)
    return "fine"


def noticed(lib: Any, model_dir: Path) -> dict[str, list[str]]:
    """For members that may be overridden: the verbs that call an override which does as the original."""
    return {name: _noticed(lib, name, model_dir / name) for name in _OVERRIDES}


def _noticed(lib: Any, name: str, model_dir: Path) -> list[str]:
    calls: list[str] = []
    own = type("Own", (lib.Estimator,), {name: _OVERRIDES[name](lib, calls)})
    found = []
    for verb, run in VERBS.items():
        calls.clear()
        run(_Face(lib, own), model_dir, model(lib))
        found += [verb] if calls else []
    return found


class _Face:
    """The module, with another Estimator."""

    def __init__(self, lib: Any, estimator: Any) -> None:
        self.Estimator = estimator
        self._lib = lib

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lib, name)


def _model_fn(lib: Any, calls: list[str]) -> Any:
    def get(self: Any) -> Any:
        def own(features: Any, labels: Any, mode: str, config: Any) -> Any:
            calls.append(mode)
            return lib.Estimator.model_fn.fget(self)(features, labels, mode, config)

        return own

    return property(get)


def _latest_checkpoint(lib: Any, calls: list[str]) -> Any:
    return lambda self: calls.append("") or lib.Estimator.latest_checkpoint(self)


def _global_step(lib: Any, calls: list[str]) -> Any:
    return lambda self, graph: calls.append("") or lib.Estimator._create_and_assert_global_step(self, graph)


_OVERRIDES = {
    "model_fn": _model_fn,
    "latest_checkpoint": _latest_checkpoint,
    "_create_and_assert_global_step": _global_step,
}


def fields(lib: Any, model_dir: Path) -> list[str]:
    """The fields of an Estimator that has done nothing yet."""
    return sorted(vars(lib.Estimator(model(lib), str(model_dir))))


def unsealed(lib: Any, model_dir: Path) -> dict[str, Any]:
    """What comes of the ways in which packages take the seal off, for a class that overrides `train`."""

    def train(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append("own")
        return lib.Estimator.train(self, *args, **kwargs)

    seal = "_assert_members_are_not_overridden"
    found = {}
    for way, members in {
        "a method": {seal: lambda self: None},
        "a static method": {seal: staticmethod(lambda self: None)},
        "in the constructor": {"__init__": _replaces_the_seal},
        "a mixin": {},
    }.items():
        calls: list[str] = []
        bases = (type("Mixin", (), {"train": train}), lib.Estimator) if way == "a mixin" else (lib.Estimator,)
        own = type("Own", bases, members if way == "a mixin" else {**members, "train": train})
        own(model(lib), str(model_dir / way)).train(batches(), steps=1)
        found[way] = calls
    return found


def _replaces_the_seal(self: Any, *args: Any) -> None:
    type(self)._assert_members_are_not_overridden = staticmethod(lambda _: None)
    super(type(self), self).__init__(*args)
