"""What Python 2, and Python 3 before 3.10, had and today's lacks, for the own modules of a program.

`lightwell run --old-python` gives a module the builtins of `old_builtins` (`xrange`, a `map` that returns a list), the
modules of `old_module` under their old names (`cPickle`, `urllib2`, `StringIO`), and views of modules that lost names
(`collections.Mapping`, `inspect.getargspec`, `time.clock`, `yaml.load` without a loader). `python2_source` rewrites
what no name can bring back. Installed packages get none of it.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import itertools
import os
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from lightwell.cli.module_views import ModuleView

# Old name of a module -> modules of today that have its names, the first one first.
MODULES: Mapping[str, tuple[str, ...]] = {
    "ConfigParser": ("configparser",),
    "HTMLParser": ("html.parser",),
    "Queue": ("queue",),
    "StringIO": ("io",),
    "Tkinter": ("tkinter",),
    "__builtin__": ("builtins",),
    "cPickle": ("pickle",),
    "cStringIO": ("io",),
    "commands": ("subprocess",),
    "copy_reg": ("copyreg",),
    "httplib": ("http.client",),
    "thread": ("_thread",),
    "urllib2": ("urllib.request", "urllib.error", "urllib.parse"),
    "urlparse": ("urllib.parse",),
}
_ABSTRACT = """
    Callable Container Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence
    MutableSet Sequence Set Sized ValuesView
"""
# Module -> name -> target, `module:name` of today.
_MOVED: Mapping[str, Mapping[str, str]] = {
    "collections": {name: f"collections.abc:{name}" for name in _ABSTRACT.split()},
    "fractions": {"gcd": "math:gcd"},
    "itertools": {
        "izip": "builtins:zip",
        "imap": "builtins:map",
        "ifilter": "builtins:filter",
        "izip_longest": "itertools:zip_longest",
        "ifilterfalse": "itertools:filterfalse",
    },
    "os": {"getcwdu": "os:getcwd"},
    "string": {
        "letters": "string:ascii_letters",
        "lowercase": "string:ascii_lowercase",
        "uppercase": "string:ascii_uppercase",
        "maketrans": "builtins:str.maketrans",
    },
    "time": {"clock": "time:perf_counter"},
    "urllib": {
        name: f"urllib.{module}:{name}"
        for module, names in {
            "request": "urlopen urlretrieve URLopener pathname2url url2pathname",
            "parse": "quote quote_plus unquote unquote_plus urlencode",
        }.items()
        for name in names.split()
    },
}


def _load_python2_pickle(*args: Any, **options: Any) -> Any:
    return importlib.import_module("pickle").load(*args, **{"encoding": "latin1", **options})


def _loads_python2_pickle(*args: Any, **options: Any) -> Any:
    return importlib.import_module("pickle").loads(*args, **{"encoding": "latin1", **options})


class _ArgSpec(NamedTuple):
    """What `inspect.getargspec` returned."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _get_argument_specification(function: Any) -> _ArgSpec:
    found = importlib.import_module("inspect").getfullargspec(function)
    return _ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _load_yaml(stream: Any, Loader: Any = None) -> Any:  # noqa: N803  # PyYAML's own name
    yaml = importlib.import_module("yaml")
    return yaml.load(stream, Loader=Loader or yaml.SafeLoader)


def _join_words(words: Any, separator: str = " ") -> str:
    return separator.join(words)


# Module -> name -> a function of ours in its place.
_WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "cPickle": {"load": _load_python2_pickle, "loads": _loads_python2_pickle},
    "inspect": {"getargspec": _get_argument_specification},
    "string": {"join": _join_words},
    "yaml": {"load": _load_yaml},
}
VIEWED = frozenset((*_MOVED, *_WRITTEN)) - frozenset(MODULES)


@functools.cache
def old_module(name: str) -> ModuleType | None:
    """The module that `import <name>` gave then, where it differs from today's; None for all others."""
    if name in MODULES:
        first, *others = (importlib.import_module(module) for module in MODULES[name])
        more = {each: vars(module)[each] for module in others for each in vars(module) if not each.startswith("_")}
    elif name in VIEWED:
        first, more = importlib.import_module(name), {}
    else:
        return None
    names = {each: functools.partial(_resolve, target) for each, target in _MOVED.get(name, {}).items()}
    found = {**more, **_WRITTEN.get(name, {})}
    return ModuleView(first, {**{each: functools.partial(_same, value) for each, value in found.items()}, **names})


def _same(value: Any) -> Any:
    return value


def _resolve(target: str) -> Any:
    module, _, path = target.partition(":")
    return functools.reduce(getattr, path.split("."), importlib.import_module(module))


def _map(function: Any, *iterables: Any) -> list[Any]:
    """`map` of Python 2: a list; without a function, tuples, filled up with None."""
    if function is None:
        return list(itertools.zip_longest(*iterables)) if len(iterables) > 1 else list(*iterables)
    return list(map(function, *iterables))


def _filter(function: Any, values: Any) -> Any:
    """`filter` of Python 2: a list, or of the kind of what it filters."""
    kept = list(filter(function, values))
    if isinstance(values, str):
        return "".join(kept)
    return tuple(kept) if isinstance(values, tuple) else kept


def _run_file(file: str, names: dict[str, Any]) -> None:
    with open(file, "rb") as source:
        exec(compile(source.read(), file, "exec"), names)


old_builtins: Mapping[str, Callable[..., Any]] = {
    "basestring": str,
    "execfile": _run_file,
    "filter": _filter,
    "long": int,
    "map": _map,
    "raw_input": builtins.input,
    "reduce": functools.reduce,
    "reload": importlib.reload,
    "range": lambda *bounds: list(range(*bounds)),
    "unichr": chr,
    "unicode": str,
    "xrange": range,
    "zip": lambda *iterables: list(zip(*iterables)),  # noqa: B905  # as short as the shortest
}


def divide(left: Any, right: Any) -> Any:
    """`/` of Python 2: whole numbers give a whole number, rounded down."""
    if _is_whole(left) and _is_whole(right):
        return left // right
    return left / right


def _is_whole(value: Any) -> bool:
    if isinstance(value, int):
        return True
    kind = getattr(value, "dtype", None)
    if kind is None:
        return False
    return bool(getattr(kind, "is_integer", False)) or getattr(kind, "kind", "") in ("i", "u")


def call_old_method(owner: Any, name: str, *args: Any) -> Any:
    """A method that only Python 2 had; the owner's own, where it has one of that name."""
    if hasattr(owner, name):
        return getattr(owner, name)(*args)
    if name == "has_key":
        return args[0] in owner
    if name == "next":
        return next(owner)
    found = getattr(owner, name.removeprefix("iter").removeprefix("view"))()
    return iter(found) if name.startswith("iter") else found


def listed(owner: Any, name: str) -> Any:
    """`keys()`, `values()` and `items()`, which were lists of a dict."""
    found = getattr(owner, name)()
    return list(found) if isinstance(found, type({}.keys()) | type({}.values()) | type({}.items())) else found


def describe(file: str, line_count: int) -> str:
    """The line that says that a file is not run as it stands."""
    lines = "1 line" if line_count == 1 else f"{line_count} lines"
    return f"{os.path.relpath(file)}: read as old Python, {lines} rewritten (in memory)"
