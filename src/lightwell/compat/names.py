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

# TensorFlow loads its API several times under several names: `tensorflow.compat.v1` and
# `tensorflow._api.v2.compat.v1` are two module objects, and each nests the other version once more.
_V1 = r"tensorflow(\._api\.v2)?(\.compat\.v[12])*\.compat\.v1"
_V2 = r"tensorflow|tensorflow(\._api\.v2)?(\.compat\.v[12])*\.compat\.v2"
# The names that programs write. TensorFlow imports the others itself, while it is loading.
_WRITTEN_V1 = r"tensorflow\.compat\.v1"
_WRITTEN_V2 = r"tensorflow(\.compat\.v2)?"
_KERAS = r"keras\._tf_keras\.keras|tensorflow\.keras"


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
    """

    modules: re.Pattern[str]
    label: str
    pages: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    wraps: Mapping[str, str] = field(default_factory=dict)


DOORS: tuple[Door, ...] = (
    Door(re.compile(_V2), "tf", pages={"estimator": ROOTS["v2"]}),
    Door(re.compile(_V1), "tf.compat.v1", pages={"estimator": ROOTS["v1"], "layers": "lightwell.layers"}),
    Door(re.compile(rf"({_V1})\.nn"), "tf.compat.v1.nn", pages={"rnn_cell": "lightwell.rnn_cell"}),
    Door(
        re.compile(_KERAS),
        "tf.keras",
        pages={"estimator": "lightwell.compat.keras_estimator", "experimental": "lightwell.compat.keras_experimental"},
    ),
    Door(
        re.compile(rf"({_KERAS})\.layers"),
        "tf.keras.layers",
        names={
            "DenseFeatures": "lightwell.feature_columns:DenseFeatures",
            "SequenceFeatures": "lightwell.feature_columns:SequenceFeatures",
        },
    ),
    # The module in which `compile` looks for an optimizer; the public one only names its functions.
    Door(
        re.compile(r"keras\.src\.optimizers"),
        "keras.optimizers",
        wraps={"get": "lightwell.compat.keras_optimizers:taking_v1_optimizers"},
    ),
)

# The removed package, and TensorFlow's own alias of it. Whatever is imported below these names is ours.
REMOVED_PACKAGES = ("tensorflow_estimator", "tensorflow.python.estimator")

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
    rf"{_WRITTEN_V1}\.layers": "lightwell.layers",
    rf"{_WRITTEN_V1}\.nn\.rnn_cell": "lightwell.rnn_cell",
    rf"({_KERAS})\.estimator": "lightwell.compat.keras_estimator",
    rf"({_KERAS})\.experimental": "lightwell.compat.keras_experimental",
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
    """The module of Lightwell that answers `import <import_name>`, if there is one for exactly that name."""
    return next((page for pattern, page in _PAGES if pattern.fullmatch(import_name)), None)


def doors_of(module_name: str) -> tuple[Door, ...]:
    """The doors that open on a module of that name."""
    return tuple(door for door in DOORS if door.modules.fullmatch(module_name))


def is_removed(import_name: str) -> bool:
    """Whether the name belongs to a package that TensorFlow removed and Lightwell answers for."""
    return any(import_name == root or import_name.startswith(f"{root}.") for root in REMOVED_PACKAGES)
