"""The import hook for old names while the doors are open.

A finder for `sys.meta_path` with three loaders: for pages of Lightwell under an old name, for pages of private modules,
and for modules of TensorFlow that get attributes back once they are loaded. Changes foreign modules only through a
`Journal`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from lightwell.base.lazy import is_listed, lazy_names, resolve
from lightwell.compat.journal import Journal
from lightwell.compat.names import Door, doors_of, is_removed, page_for
from lightwell.compat.private import children_of, private_page
from lightwell.compat.retired import contrib_hint, written_for_slim

_SLIM = "tf_slim"  # continues much of tf.contrib; it needs repairs on today's TensorFlow
_PRIVATE_ROOTS = ("tensorflow_estimator.python.estimator", "tensorflow.python.estimator")
_CONNECTING = (
    "tensorflow_estimator",
    "tensorflow_estimator.python",
    "tensorflow_estimator.compat",
    "tensorflow_estimator.compat.v1",
    "tensorflow_estimator.compat.v2",
    "tensorflow_estimator._api",
    "tensorflow_estimator._api.v1",
    "tensorflow_estimator._api.v1.v1",
    "tensorflow_estimator._api.v2",
    "tensorflow_estimator._api.v2.v2",
    "tensorflow_estimator.python.estimator.api",
    "tensorflow_estimator.python.estimator.api._v1",
    "tensorflow_estimator.python.estimator.api._v1.v1",
    "tensorflow_estimator.python.estimator.api._v2",
    "tensorflow_estimator.python.estimator.api._v2.v2",
)


class OldNames(MetaPathFinder):
    """Finds the modules that old programs import; first in `sys.meta_path` while the doors are open."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._mended: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] == _SLIM:
            return self._with_doors(fullname, path, target)
        if not fullname.startswith(("tensorflow", "keras._tf_keras")):
            return None
        page = page_for(fullname)
        if page is not None:
            return ModuleSpec(fullname, _PageLoader(page, self._journal))
        if is_removed(fullname):
            return ModuleSpec(fullname, _PrivateLoader(self._journal), is_package=True)
        if fullname == "tensorflow.contrib" or fullname.startswith("tensorflow.contrib."):
            raise ModuleNotFoundError(contrib_hint(fullname.removeprefix("tensorflow.")), name=fullname)
        if doors_of(fullname):
            return self._with_doors(fullname, path, target)
        return None

    def _with_doors(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        """The spec that the other finders give, with a loader that opens the doors after loading."""
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(fullname, path, target) if find and finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _DoorLoader(spec.loader, self)
                return spec
        return None

    def loaded(self, module_name: str) -> None:
        """Open the doors of every loaded module, after one more was loaded.

        Does nothing while TensorFlow itself is loading: a page imports parts of Lightwell, and those need all of
        TensorFlow.
        """
        if _is_loading("tensorflow") and module_name != "tensorflow":
            return
        if module_name.partition(".")[0] == _SLIM:
            if module_name == _SLIM or not _is_loading(_SLIM):
                from lightwell.compat.contrib.slim.mended import mend  # loads TensorFlow, as that package has done

                mend(written_for_slim(), self._journal.set)
            return
        for name, module in sys.modules.copy().items():
            for door in doors_of(name) if name.startswith(("tensorflow", "keras.")) else ():
                open_door(module, door, self._journal)
                if door.mends and (name == module_name or not _is_loading(name)):
                    self._mend(door)

    def _mend(self, door: Door) -> None:
        """Change the classes that a door is for, once, however many modules it opens on."""
        for target in door.mends:
            if target not in self._mended:
                self._mended.add(target)
                resolve(target)(self._journal.set, self._journal.on_restore)


def open_door(module: ModuleType, door: Door, journal: Journal) -> None:
    """Give a module the attributes of a door, unless it has them already."""
    for attribute, page in door.pages.items():
        # Loading `tensorflow.compat.v1` again puts a fresh lazy loader over `nn.rnn_cell`, so a second look is needed.
        if not journal.has_set(module, attribute) or _is_lazy_loader(vars(module).get(attribute)):
            journal.set(module, attribute, importlib.import_module(page))
    for attribute, target in door.wraps.items():
        if not journal.has_set(module, attribute) and attribute in vars(module):
            journal.set(module, attribute, resolve(target)(vars(module)[attribute]))
    if (door.names or door.absent) and not journal.has_set(module, "__getattr__"):
        _offer(module, door, journal)


def _offer(module: ModuleType, door: Door, journal: Journal) -> None:
    """Let a module look up the names of a door that it lacks."""
    look_up, _, _ = lazy_names(door.label, door.names, absent=door.absent, keep=False)
    before = vars(module).get("__getattr__")

    def module_getattr(name: str) -> Any:
        if before is not None and name not in door.names and name not in door.absent:
            return before(name)
        return look_up(name)

    journal.set(module, "__getattr__", module_getattr)


def _is_lazy_loader(value: object) -> bool:
    return type(value).__name__.endswith("LazyLoader")


def _is_loading(module_name: str) -> bool:
    spec = getattr(sys.modules.get(module_name), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


class _DoorLoader(Loader):
    """Loads a module of TensorFlow as its own loader does, then opens its doors."""

    def __init__(self, loader: Any, names: OldNames) -> None:
        self._loader = loader
        self._names = names

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._names.loaded(name)


class _PageLoader(Loader):
    """Answers an import with a module of Lightwell, the same object under every spelling."""

    def __init__(self, page: str, journal: Journal) -> None:
        self._page = page
        self._journal = journal
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._page)
        self._own_spec = module.__spec__
        _expect_in_parent(spec.name, module, self._journal)
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has written the spelling's spec into the page.
        module.__spec__ = self._own_spec


class _PrivateLoader(Loader):
    """Builds the page of a private module of the removed package."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = make_private_module(spec.name)
        _expect_in_parent(spec.name, module, self._journal)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: `create_module` built the page."""


def make_private_module(name: str) -> ModuleType:
    """A module that answers for `name`, a module of the removed package.

    Raises:
        ModuleNotFoundError: there is no such module here.
    """
    root = next((root for root in _PRIVATE_ROOTS if name == root or name.startswith(f"{root}.")), None)
    page = None if root is None else private_page(name.removeprefix(root).lstrip("."))
    below: dict[str, str] = {}
    if page is not None and root is not None:
        below = {child: f"{name}.{child}" for child in children_of(name.removeprefix(root).lstrip("."))}
    elif name in _CONNECTING:
        below = _connected(name)
    else:
        raise ModuleNotFoundError(_no_module(name), name=name)
    module = ModuleType(name, f"Lightwell's answer to the private module {name}.")
    named = {} if page is None else page.targets
    module.__getattr__, module.__dir__, module.__all__ = lazy_names(  # type: ignore[method-assign, attr-defined]
        name,
        {**below, **{each: target for each, target in named.items() if is_listed(target)}},
        absent={} if page is None else page.absent,
        unlisted={each: target for each, target in named.items() if not is_listed(target)},
    )
    return module


def _connected(name: str) -> dict[str, str]:
    """The modules below a folder of the removed package."""
    known = (*_CONNECTING, *_PRIVATE_ROOTS)
    below = {child.removeprefix(f"{name}.") for child in known if child.startswith(f"{name}.")}
    below |= {"estimator"} if page_for(f"{name}.estimator") else set()
    return {child: f"{name}.{child}" for child in below if "." not in child}


def _no_module(name: str) -> str:
    return (
        f"{name} is a private module of the removed package tensorflow_estimator, and Lightwell has none of that name. "
        "Use the public names: tf.estimator (lightwell.estimator) or tf.compat.v1.estimator."
    )


def _expect_in_parent(name: str, module: ModuleType, journal: Journal) -> None:
    parent_name, _, child = name.rpartition(".")
    parent = sys.modules.get(parent_name)
    if parent is not None and not parent_name.startswith("tensorflow_estimator"):
        journal.expect(parent, child, module)
