"""Judges a TensorFlow name under `lightwell run`: in TensorFlow, from Lightwell, in a package, or absent.

`judge` returns a `Verdict`. It reads the tables that a run reads (`tf1.tables`, `compat.names`, `compat.retired`,
`compat.private`, `base.public_names`) and the API pages of the installed TensorFlow. It does not import TensorFlow.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from lightwell.base.public_names import NAMESPACES, ROOTS
from lightwell.cli import installed_names, keras_choice
from lightwell.cli.defined_names import all_names, defines
from lightwell.compat.names import doors_of, is_removed, page_for
from lightwell.compat.private import private_page
from lightwell.compat.retired import CONTRIB, contrib_hint
from lightwell.compat.retired.released_names import RELEASES, when
from lightwell.compat.tf1.spelling import Version
from lightwell.compat.tf1.tables import EXAMPLES, GONE, OURS, PRIVATE

_PRIVATE_ROOTS = ("tensorflow_estimator.python.estimator", "tensorflow.python.estimator")


class State(Enum):
    """Where a name comes from."""

    TENSORFLOW = "tensorflow"
    LIGHTWELL = "lightwell"
    PACKAGE = "package"
    ABSENT = "absent"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one name.

    Attributes:
        name: the public name as programs write it (`tf.contrib.layers.flatten`), without attributes of its object.
        state: where it comes from.
        advice: where it is, or what to do.
        is_namespace: whether the name is a whole namespace; importing one needs no name of it.
    """

    name: str
    state: State
    advice: str = ""
    is_namespace: bool = False


@functools.cache
def judge(name: str, version: Version) -> Verdict:
    """Judge a full dotted name (`tensorflow.train.AdamOptimizer`) in a file written for that TensorFlow."""
    in_keras_2 = keras_choice.only_in_keras_2(name)
    if in_keras_2:
        state = State.LIGHTWELL if keras_choice.is_installed() else State.PACKAGE
        advice = keras_choice.ADVICE if state is State.LIGHTWELL else f"pip install tf_keras ({keras_choice.ADVICE})"
        return Verdict(in_keras_2, state, advice)
    top, *parts = _without_attributes_of_modules(name)
    if is_removed(name):
        return _removed(name)
    if top != "tensorflow" or not parts:
        return Verdict(name, State.TENSORFLOW, is_namespace=True)
    if parts[0] in installed_names.SOURCES:
        return _private(name, version)
    if version is Version.TF1:
        return _in_tf1(parts)
    verdict = _today(parts)
    if verdict.state is State.ABSENT and _in_tf1(parts).state is not State.ABSENT:
        advice = "A name of TensorFlow 1, in a file that otherwise means TensorFlow 2: tf.compat.v1, or run with --tf1."
        return replace(verdict, advice=advice)
    return verdict


def _without_attributes_of_modules(name: str) -> list[str]:
    """The parts of a name before an attribute that every module has: `tf.logging` of `tf.logging.__dict__`."""
    parts = name.split(".")
    return parts[: next((i for i, part in enumerate(parts) if i > 1 and part.startswith("__")), len(parts))]


def _in_tf1(parts: list[str]) -> Verdict:
    """A name below `tf` of TensorFlow 1."""
    while parts[:2] == ["compat", "v1"] and len(parts) > 2:
        parts = parts[2:]
    if parts[:2] == ["compat", "v2"] and len(parts) > 2:
        return _today(parts[2:])
    first = parts[0]
    if first == "contrib":
        return _contrib(parts[1:])
    if first in GONE:
        return Verdict(f"tf.{first}", State.ABSENT, f"It went with TensorFlow 1. {GONE[first]}")
    if first == "examples":
        return _example(parts)
    if first in ("estimator", "layers") or parts[:2] == ["nn", "rnn_cell"]:
        depth = 2 if first == "nn" else 1
        page = "lightwell.rnn_cell" if first == "nn" else OURS[first]
        return _on_page(page, parts[:depth], parts[depth:])
    if first in OURS and ":" in OURS[first] and first != "keras":
        return Verdict(f"tf.{first}", State.LIGHTWELL, OURS[first].replace(":", "."))
    if first == "keras":
        return _today(parts)
    old = _pages(["compat", "v1", *parts], spelled=parts)
    if old.state is State.TENSORFLOW:
        same = _pages(parts, spelled=parts)
        if same.state is State.TENSORFLOW and same.name == old.name:
            return same
        return Verdict(old.name, State.LIGHTWELL, f"tf.compat.v1.{old.name[3:]}", old.is_namespace)
    if len(parts) > 1 and installed_names.has_name("compat.v1", first):
        below = _today(["compat", "v1", *parts])  # only names of `tf` itself are looked up in today's
        return old if below.state is State.ABSENT else replace(below, name=f"tf.{'.'.join(parts)}")
    return _today(parts)


def _today(parts: list[str]) -> Verdict:
    """A name below today's `tf`, with `install()` in effect."""
    if len(parts) > 2 and parts[0] == "compat" and parts[2] == "keras":
        old = _today(parts[2:])  # the same Keras
        return replace(old, name=f"tf.{'.'.join(parts[:2])}.{old.name.removeprefix('tf.')}")
    if parts[0] in installed_names.OF_KERAS:  # `tf.losses` is `tf.keras.losses`
        same = _today(["keras", *parts])
        return replace(same, name=f"tf.{same.name.removeprefix('tf.keras.')}")
    for depth in reversed(range(len(parts))):  # a page may have another one below it
        module = ".".join(["tensorflow", *parts[:depth]])
        for door in doors_of(module):
            if parts[depth] in door.absent:
                return Verdict(_spelled(parts[: depth + 1]), State.ABSENT, door.absent[parts[depth]])
            if parts[depth] in door.pages:
                return _on_page(door.pages[parts[depth]], parts[: depth + 1], parts[depth + 1 :])
            if parts[depth] in door.names:
                return Verdict(
                    _spelled(parts[: depth + 1]), State.LIGHTWELL, door.names[parts[depth]].replace(":", ".")
                )
    return _pages(parts, spelled=parts)


def _pages(parts: list[str], spelled: list[str]) -> Verdict:
    """Walk the pages of the installed TensorFlow as far as they are namespaces."""
    extra = len(parts) - len(spelled)
    for depth, part in enumerate(parts):
        above = ".".join(parts[:depth])
        written = _spelled(spelled[: max(depth + 1 - extra, 1)])
        if not installed_names.has_name(above, part):
            return Verdict(written, State.ABSENT, _history(written.removeprefix("tf.")))
        if installed_names.page_at(".".join(parts[: depth + 1])) is None:
            return Verdict(written, State.TENSORFLOW)
    return Verdict(_spelled(spelled), State.TENSORFLOW, is_namespace=True)


def _history(path: str) -> str:
    """Which TensorFlow had a name that today's lacks."""
    today = f"TensorFlow {installed_names.tensorflow_version()} has no such name"
    had = when(path)
    return f"{today}; {had} had it." if had else f"{today}, and no release from {RELEASES[0]} to {RELEASES[-1]} had."


def _listed_in(page: str) -> Sequence[str]:
    """The names of a page; a page of Keras 2 is a table, which loads nothing."""
    if page.startswith("lightwell.compat.keras2.pages."):
        return list(importlib.import_module(page).__all__)
    return list(installed_names.listed_in(page))


def _on_page(page: str, spelled: list[str], below: list[str]) -> Verdict:
    """A name of a page of Lightwell."""
    for depth, part in enumerate(below):
        written = _spelled([*spelled, *below[: depth + 1]])
        if page not in _pages_of_estimator() and not installed_names.is_lazy(page):
            here = _listed_in(page)
            advice = page if part in here else f"{page} has no such name."
            return Verdict(written, State.LIGHTWELL if part in here else State.ABSENT, advice)
        module = importlib.import_module(page)
        if part not in module.__all__:
            return Verdict(written, State.ABSENT, _refusal(module, part))
        if f"{page}.{part}" in _pages_of_estimator():
            page = f"{page}.{part}"
            continue
        return Verdict(written, State.LIGHTWELL, page)
    return Verdict(_spelled([*spelled, *below]), State.LIGHTWELL, page, is_namespace=True)


@functools.cache
def _pages_of_estimator() -> frozenset[str]:
    below = (f"{root}.{namespace}" for face, root in ROOTS.items() for namespace in NAMESPACES[face])
    return frozenset((*ROOTS.values(), *below))


def _refusal(module: object, name: str) -> str:
    """The error text of a page for a name that it lacks."""
    try:
        getattr(module, name)
    except (AttributeError, ImportError) as error:
        return str(error).partition(" does not exist in Lightwell. ")[2] or str(error)
    return ""


def _contrib(parts: list[str]) -> Verdict:
    """A name below `tf.contrib`. Its private modules were below `python` and had the same names."""
    written = _spelled(["contrib", *parts])
    if not parts:
        return Verdict("tf.contrib", State.LIGHTWELL, "lightwell.tf1.contrib", is_namespace=True)
    namespace, *below = parts
    cells = CONTRIB.get(namespace)
    if cells is None:
        return Verdict(_spelled(["contrib", namespace]), State.ABSENT, _what_to_do(f"contrib.{namespace}"))
    if not below:
        return Verdict(written, State.LIGHTWELL, f"lightwell.tf1.contrib.{namespace}", is_namespace=True)
    is_private = below[0] == "python"
    public = next((name for name in reversed(below) if name in cells), "") if is_private else below[0]
    cell = cells.get(public, "")
    name = written if is_private else _spelled(["contrib", namespace, public])
    if public and cell and not cell.startswith(("!", "?")):
        return _living(name, cell, below[1:] if not is_private else [])
    carrier = cells.get("", "")
    if carrier.startswith("?"):
        package, _, hint = carrier[1:].partition(" ")
        if installed_names.is_installed(package):
            if is_private or public in _carried(package) or installed_names.source_of(f"{package}.{public}"):
                return Verdict(name, State.LIGHTWELL, package)
        elif not cell or package.partition(".")[0] in cell:
            return Verdict(name, State.PACKAGE, hint)
    if is_private and not public:  # a private module: it can be imported, and raises when it is used
        return Verdict(name, State.LIGHTWELL, f"lightwell.tf1.contrib.{namespace}", is_namespace=True)
    if cell.startswith("!") or carrier:
        return Verdict(name, State.ABSENT, _what_to_do(f"contrib.{namespace}.{public}"))
    near = difflib.get_close_matches(public, cells, n=1)
    return Verdict(
        name, State.ABSENT, f"Nearest: tf.contrib.{namespace}.{near[0]}." if near else "It has no successor."
    )


def _example(parts: list[str]) -> Verdict:
    path = ".".join(parts[1:])
    known = next((known for known in EXAMPLES if f"{path}.".startswith(f"{known}.")), None)
    if known is not None:
        return Verdict(f"tf.examples.{known}", State.LIGHTWELL, EXAMPLES[known])
    if any(known.startswith(path) for known in EXAMPLES):
        return Verdict(_spelled(parts), State.LIGHTWELL, OURS["examples"], is_namespace=True)
    return Verdict(_spelled(parts), State.ABSENT, "It went with TensorFlow 1.")


def _living(name: str, target: str, below: list[str]) -> Verdict:
    """A cell that is a target. For names of `tf.estimator`, the page says whether the target exists."""
    module, _, attribute = target.partition(":")
    if module in _pages_of_estimator() and attribute:
        page = importlib.import_module(module)
        if attribute.partition(".")[0] not in page.__all__:
            return Verdict(name, State.ABSENT, _refusal(page, attribute))
    if attribute or not below:
        return Verdict(name, State.LIGHTWELL, target.replace("tensorflow:", "tf.").replace(":", "."))
    there = below[0] in installed_names.listed_in(module)
    state = State.LIGHTWELL if there else State.ABSENT
    return Verdict(f"{name}.{below[0]}", state, module if there else f"{module} has no such name.")


def _carried(package: str) -> frozenset[str]:
    """The names of a package that continues a namespace, and of the modules that it star-imports."""
    file = installed_names.source_of(package)
    return frozenset() if file is None else all_names(file, installed_names.source_of)


def _what_to_do(path: str) -> str:
    """The advice of a run's error, without its first half, which every row would repeat."""
    text = contrib_hint(path, installed=False)
    return text.partition("TensorFlow removed tf.contrib in 2.0")[2].lstrip(".,: ") or text


def _removed(name: str) -> Verdict:
    """A name of the package `tensorflow_estimator`, public or private."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        page = page_for(".".join(parts[:depth]))
        if page is not None:
            return _on_page(page, parts[:depth], parts[depth:])
    root = next((root for root in _PRIVATE_ROOTS if f"{name}.".startswith(f"{root}.")), None)
    below = [] if root is None else name.removeprefix(root).lstrip(".").split(".")
    for depth in range(len(below), 0, -1):
        private = private_page(".".join(below[:depth]))
        if private is not None:
            if depth == len(below):
                return Verdict(name, State.LIGHTWELL, "lightwell.compat.private", is_namespace=True)
            attribute = below[depth]
            full = f"{root}.{'.'.join(below[: depth + 1])}"
            if attribute in private.targets:
                return Verdict(full, State.LIGHTWELL, private.targets[attribute].replace(":", "."))
            return Verdict(full, State.ABSENT, private.absent.get(attribute, "Use the public names of tf.estimator."))
    return Verdict(name, State.LIGHTWELL, "lightwell.compat.private", is_namespace=True)


def _private(name: str, version: Version) -> Verdict:
    """A name below TensorFlow's private modules, which change with every release."""
    parts = name.split(".")
    for depth in range(len(parts), 1, -1):
        module, attribute = ".".join(parts[: depth - 1]), parts[depth - 1]
        brought = {each: target for door in doors_of(module) for each, target in door.names.items()}
        brought |= PRIVATE.get(module, {}) if version is Version.TF1 else {}
        if attribute in brought:
            return Verdict(f"{module}.{attribute}", State.LIGHTWELL, brought[attribute].replace(":", "."))
        file = installed_names.source_of(".".join(parts[:depth]))
        if file is None:
            continue
        if depth == len(parts):
            return Verdict(name, State.TENSORFLOW, is_namespace=True)
        written = ".".join(parts[: depth + 1])
        if defines(file, parts[depth], installed_names.source_of):
            return Verdict(written, State.TENSORFLOW)
        return Verdict(written, State.ABSENT, "A private name that TensorFlow moved: use the public one.")
    return Verdict(name, State.ABSENT, "A private module that TensorFlow removed: use the public names.")


def _spelled(parts: list[str]) -> str:
    return ".".join(["tf" if parts[:1] != ["tensorflow_estimator"] else "", *parts]).lstrip(".")
