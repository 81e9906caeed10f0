"""The public names of the installed TensorFlow and Keras, read from their pages on disk: nothing is imported.

An `ApiPage` is a generated file of import lines. Reading it takes a millisecond; importing TensorFlow takes seconds.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import importlib.util
import os
import re
from dataclasses import dataclass

from lightwell.base.public_names import PAGES
from lightwell.cli.defined_names import own_names

_IMPORT = re.compile(r"^\s*from \S+ import (\([^)]*\)|[^#\n]*)", re.MULTILINE)
_SET = re.compile(r"""setattr\(_current_module, "(\w+)"|^_current_module\.([\w.]+) =""", re.MULTILINE)
# Namespaces of `tf` that are Keras's own.
OF_KERAS = ("losses", "metrics", "optimizers", "initializers")
_PUBLIC = "_api/v2"
_KERAS_PAGES = os.path.join("keras", "_tf_keras")
# Folders that hold sources, not pages.
SOURCES = ("python", "core", "compiler", "tools", "tsl")


@dataclass(frozen=True)
class ApiPage:
    """A namespace: its file or folder on disk."""

    folder: str

    @property
    def file(self) -> str:
        return os.path.join(self.folder, "__init__.py")

    def has(self, name: str) -> bool:
        """Whether the page offers a name. A namespace of Keras that its page does not import can only be imported."""
        offered = name in names_in(self.file)
        return offered if _KERAS_PAGES in self.folder else offered or self.below(name) is not None

    def below(self, name: str) -> ApiPage | None:
        """The page of a namespace below this one."""
        page = ApiPage(os.path.join(self.folder, name))
        return page if os.path.isfile(page.file) else None


def tensorflow_version() -> str:
    """The version of the installed TensorFlow; empty when there is none."""
    for build in ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos", "tf-nightly"):
        try:
            return importlib.metadata.version(build)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def is_installed(module: str) -> bool:
    """Whether a top-level module can be imported."""
    try:
        return importlib.util.find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def public_page() -> ApiPage:
    """`tf` of today."""
    return ApiPage(_folder_of("tensorflow"))


@functools.cache
def page_at(path: str) -> ApiPage | None:
    """The page of a namespace of today's `tf`: `nn`, `compat.v1.nn`, `keras.layers`, `losses`."""
    parts = path.split(".") if path else []
    if parts[:2] in (["compat", "v1"], ["compat", "v2"]) and parts[2:3] in (["keras"], *([one] for one in OF_KERAS)):
        parts = parts[2:] if parts[2] == "keras" or parts[1] == "v2" else parts
    if parts[:1] == ["keras"]:
        root, parts = ApiPage(os.path.join(_folder_of("keras"), "_tf_keras", "keras")), parts[1:]
    elif parts[:1] and parts[0] in OF_KERAS:
        root = ApiPage(os.path.join(_folder_of("keras"), "_tf_keras", "keras"))
    else:
        root = ApiPage(os.path.join(_folder_of("tensorflow"), *_PUBLIC.split("/"))) if parts else public_page()
    for part in parts:
        below = root.below(part)
        if below is None:
            return None
        root = below
    return root


@functools.cache
def has_name(path: str, name: str) -> bool:
    """Whether today's `tf.<path>` offers a name."""
    page = page_at(path)
    if page is None:
        return False
    if _KERAS_PAGES in page.folder:
        return page.has(name)
    above, _, last = path.rpartition(".")
    assigned = path and f"{last}.{name}" in names_in(getattr(page_at(above), "file", ""))  # `app.flags = ...`
    return page.has(name) or bool(assigned) or page_at(f"{path}.{name}".lstrip(".")) is not None


def source_of(module: str) -> str | None:
    """The file of a private module of the installed package, if it exists: `tensorflow.python.ops.array_ops`."""
    parts = module.split(".")
    path = os.path.join(_folder_of(parts[0]), *parts[1:])
    candidates = (f"{path}.py", os.path.join(path, "__init__.py"), f"{path}.so")
    existing = next((file for file in candidates if os.path.isfile(file)), None)
    return existing or (path if os.path.isdir(path) else None)


@functools.cache
def names_in(file: str) -> frozenset[str]:
    """The names that a generated page offers."""
    try:
        with open(file, encoding="utf-8") as page:
            text = page.read()
    except OSError:
        return frozenset()
    imported = (one.split() for names in _IMPORT.findall(text) for one in names.strip("()").split(","))
    public = {words[-1] for words in imported if words}  # `name`, or `name as other`
    public |= {first or second for first, second in _SET.findall(text)}
    return frozenset(public)


def listed_in(module: str) -> frozenset[str]:
    """What the `__all__` of a module of Lightwell lists, read from its source; all it defines, where it has none."""
    file = source_of(PAGES.get(module, module))
    if file is None:
        return frozenset()
    with open(file, "rb") as source:
        tree = ast.parse(source.read())
    for node in tree.body:
        is_all = isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        )
        if isinstance(node, ast.Assign) and is_all and isinstance(node.value, ast.List):
            return frozenset(str(one.value) for one in node.value.elts if isinstance(one, ast.Constant))
    return own_names(file)


@functools.cache
def is_lazy(module: str) -> bool:
    """Whether a module of Lightwell is a page of names that are looked up on first use: importing it loads nothing."""
    file = source_of(PAGES.get(module, module))
    if file is None:
        return False
    with open(file, encoding="utf-8") as source:
        return "= lazy_names(" in source.read()


@functools.cache
def _folder_of(package: str) -> str:
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    return next(iter(places)) if places else os.devnull
