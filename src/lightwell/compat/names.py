"""The tables of old names: attributes that modules of TensorFlow get back, and import names that Lightwell answers.

`DOORS`: attributes that `install` sets on modules of TensorFlow and Keras. `page_for`: the page of Lightwell for an
import name that no installed package has. Nothing is imported or changed here. The names *inside* `tf.estimator`
are in `base/public_names.py`, those of the private modules in `private.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lightwell.base.public_names import NAMESPACES, ROOTS
from lightwell.compat.keras2 import doors as keras2
from lightwell.foreign.moved_modules import moved_to

# TensorFlow loads its API several times under several names: `tensorflow.compat.v1` and
# `tensorflow._api.v2.compat.v1` are two module objects, and each nests the other version once more.
_V1 = r"tensorflow(\._api\.v2)?(\.compat\.v[12])*\.compat\.v1"
_V2 = r"tensorflow|tensorflow(\._api\.v2)?(\.compat\.v[12])*\.compat\.v2"
# The names that programs write. TensorFlow imports the others itself, while it is loading.
_WRITTEN_V1 = r"tensorflow\.compat\.v1"
_WRITTEN_V2 = r"tensorflow(\.compat\.v2)?"
_KERAS = r"keras\._tf_keras\.keras|tensorflow\.keras"
# These modules of `tf.keras` are its own; the others are those of `keras` itself.
_OF_TF_KERAS_ALONE = frozenset({"", "backend", "layers", "losses", "metrics"})
_KERAS_SHARED = rf"{_KERAS}|keras"


@dataclass(frozen=True)
class Door:
    """Attributes that one kind of module gets.

    Attributes:
        modules: pattern that the whole module name matches.
        label: how users write the module, for errors.
        pages: attribute -> module set there.
        names: attribute -> target, looked up on first use.
        absent: attribute -> what to use instead.
        wraps: attribute -> target of a function from the old value to the new one.
        mends: targets of functions that change classes once the module is loaded, through the journal.
    """

    modules: re.Pattern[str]
    label: str
    pages: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    wraps: Mapping[str, str] = field(default_factory=dict)
    mends: tuple[str, ...] = ()


def _keras_doors() -> Iterator[Door]:
    """The doors of `tf.keras` and its modules, and of modules of Keras in which it looks functions up."""
    for module in sorted({"", *keras2.NAMES, *keras2.ABSENT, *keras2.WRAPS, *map(_parent, keras2.PAGES)}):
        below = re.escape(f".{module}") if module else ""
        yield Door(
            re.compile(rf"({_KERAS if module in _OF_TF_KERAS_ALONE else _KERAS_SHARED}){below}"),
            f"tf.keras.{module}" if module else "tf.keras",
            pages={_child(page): target for page, target in keras2.PAGES.items() if _parent(page) == module},
            names=keras2.NAMES.get(module, {}),
            absent={name: absent_text(module, name) for name in keras2.ABSENT.get(module, {})},
            wraps=keras2.WRAPS.get(module, {}),
            mends=() if module else keras2.MENDS,
        )
    for module, names in keras2.PRIVATE_NAMES.items():
        path = rf"tensorflow\.python\.keras\.{module}"
        yield Door(re.compile(path), f"tensorflow.python.keras.{module}", names=names)
    for pattern, wraps in keras2.INNER_WRAPS.items():
        yield Door(re.compile(pattern), "keras", wraps=wraps)


def absent_text(module: str, name: str) -> str:
    """What to use instead of a name that Keras 3 dropped from a module of `tf.keras`."""
    text = keras2.ABSENT[module][name]
    return f"{text} {keras2.TF_KERAS}" if f"{module}.{name}".lstrip(".") in keras2.IN_TF_KERAS else text


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _child(path: str) -> str:
    return path.rpartition(".")[2]


DOORS: tuple[Door, ...] = (
    Door(re.compile(_V2), "tf", pages={"estimator": ROOTS["v2"]}),
    Door(re.compile(_V1), "tf.compat.v1", pages={"estimator": ROOTS["v1"], "layers": "lightwell.layers"}),
    Door(re.compile(rf"({_V1})\.nn"), "tf.compat.v1.nn", pages={"rnn_cell": "lightwell.rnn_cell"}),
    *_keras_doors(),
    # The module in which `compile` looks for an optimizer; the public one only names its functions.
    Door(
        re.compile(r"keras\.src\.optimizers"),
        "keras.optimizers",
        wraps={"get": "lightwell.compat.keras_optimizers:taking_v1_optimizers"},
    ),
)

# The removed package, and TensorFlow's own alias of it. Whatever is imported below these names is ours.
REMOVED_PACKAGES = ("tensorflow_estimator", "tensorflow.python.estimator")

_PRIVATE_LAYERS = "lightwell.compat.keras2.pages.private_layers"
# The name of TensorFlow's own package in 1.15 and 2.0.
_OLD_CORE = "tensorflow_core"

_PUBLIC_BASES: Mapping[str, tuple[str, ...]] = {
    # `tensorflow_estimator.estimator` always was the v1 face.
    "v1": (
        r"tensorflow_estimator\.(_api\.v1\.|_api\.v1\.v1\.|compat\.v1\.)?estimator",
        r"tensorflow_estimator\.python\.estimator\.api\.(_v1|_v1\.v1)\.estimator",
        rf"{_WRITTEN_V1}\.estimator",
    ),
    "v2": (
        r"tensorflow_estimator\.(_api\.v2|_api\.v2\.v2|compat\.v2)\.estimator",
        r"tensorflow_estimator\.python\.estimator\.api\.(_v2|_v2\.v2)\.estimator",
        rf"{_WRITTEN_V2}\.estimator",
    ),
}
_OTHER_PAGES: Mapping[str, str] = {
    rf"tensorflow\.python\.keras\.layers\.({'|'.join(keras2.PRIVATE_LAYER_MODULES)})": _PRIVATE_LAYERS,
    rf"{_WRITTEN_V1}\.layers": "lightwell.layers",
    rf"{_WRITTEN_V1}\.nn\.rnn_cell": "lightwell.rnn_cell",
    **{rf"({_KERAS})\.{re.escape(path)}": page for path, page in keras2.PAGES.items()},
}


def _pages() -> Iterator[tuple[re.Pattern[str], str]]:
    for face, root in ROOTS.items():
        base = "|".join(_PUBLIC_BASES[face])
        yield re.compile(base), root
        for namespace in NAMESPACES[face]:
            yield re.compile(rf"({base})\.{re.escape(namespace)}"), f"{root}.{namespace}"
    for pattern, page in _OTHER_PAGES.items():
        yield re.compile(pattern), page


_PAGES = tuple(_pages())


def page_for(import_name: str) -> str | None:
    """The module that answers `import <import_name>`: a page, or TensorFlow's own by today's name; else None."""
    top, _, below = import_name.partition(".")
    if top == _OLD_CORE:
        return f"tensorflow.{below}".rstrip(".")
    page = next((page for pattern, page in _PAGES if pattern.fullmatch(import_name)), None)
    return moved_to(import_name) if page is None else page


def doors_of(module_name: str) -> tuple[Door, ...]:
    """The doors that open on a module of that name."""
    return tuple(door for door in DOORS if door.modules.fullmatch(module_name))


def is_removed(import_name: str) -> bool:
    """Whether the name belongs to a package that TensorFlow removed and Lightwell answers for."""
    return any(import_name == root or import_name.startswith(f"{root}.") for root in REMOVED_PACKAGES)
