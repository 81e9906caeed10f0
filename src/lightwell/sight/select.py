"""Selecting: from what a user writes to the entries it means, or an error that says what was meant.

A selection is a path, a glob (`layers/conv*`), a bare name, a layer class, a predicate over entries, or a list of
those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

from lightwell.errors import PathError, WrongType
from lightwell.keys import ModeKeys
from lightwell.sight.catalogue import SECTIONS, Catalogue, Entry
from lightwell.sight.nearest import nearest_paths

Selection = Any  # str | type | Callable[[Entry], bool] | Iterable[Selection]

_MODE_NAMES = {ModeKeys.TRAIN: "training", ModeKeys.EVAL: "evaluation", ModeKeys.PREDICT: "prediction"}


def select(catalogue: Catalogue, selection: Selection, where: str) -> list[Entry]:
    """All entries that `selection` means, each once, in order.

    Args:
        catalogue: the paths of the program.
        selection: what the user asked for.
        where: who asks, for the error: `"predict(taps=...)"`.

    Raises:
        PathError: it means nothing in this program; the text names the nearest paths or says why there is none.
        WrongType: not a selection.
    """
    found = _select(catalogue, selection, where)
    return list({entry.path: entry for entry in found}.values())


def _select(catalogue: Catalogue, selection: Selection, where: str) -> list[Entry]:
    if isinstance(selection, str):
        return _by_name(catalogue, selection, where)
    if isinstance(selection, type):
        found = [e for e in catalogue.section("layers").values() if _is_output(e) and _is_kind(e, selection)]
        return found or _nothing(f"{where}: no layer of this model is a {selection.__name__}.", catalogue)
    if callable(selection):
        found = _by_predicate(catalogue, selection)
        return found or _nothing(f"{where}: the predicate {_name(selection)} chose none of the paths.", catalogue)
    if isinstance(selection, Iterable):
        return [entry for one in selection for entry in _select(catalogue, one, where)]
    raise WrongType(
        f"{where}: a selection is a path, a glob, a layer class, a predicate or a list of those, got {selection!r}."
    )


def _by_name(catalogue: Catalogue, path: str, where: str) -> list[Entry]:
    section = path.partition("/")[0]
    if section in SECTIONS:
        found = _in_section(catalogue, section, path)
    else:
        found = _in_section(catalogue, "layers", f"layers/{path}") or _in_section(
            catalogue, "tensors", f"tensors/{path}"
        )
    if not found:
        raise PathError(_why_not(catalogue, path, where))
    return found


def _in_section(catalogue: Catalogue, section: str, path: str) -> list[Entry]:
    entries = catalogue.section(section)
    if path in entries:
        return [entries[path]]
    if section == "tensors" and f"{path}:0" in entries:
        return [entries[f"{path}:0"]]
    if section in ("layers", "gradients"):
        found = _loose_layer(entries, path)
        if found:
            return found
    below = [entry for name, entry in entries.items() if name.startswith(path + "/")]
    if section in ("features", "labels", "predictions", "collections") and path == section:
        return below  # the section's name alone means all of it
    if _is_glob(path):
        pattern = _as_pattern(path)
        return [entry for name, entry in entries.items() if fnmatchcase(name, pattern) and _wanted_by_glob(path, name)]
    return []


def _loose_layer(entries: dict[str, Entry], path: str) -> list[Entry]:
    """`layers/dense` where the book says `dense:0`, `dense:1` is its first call; `layers/lstm` is all its outputs."""
    first_call = re.sub(r"(/input)?$", lambda m: ":0" + m.group(0), path, count=1) if ":" not in path else path
    for candidate in (path, first_call, re.sub(r":0($|/|\[)", r"\1", path)):
        if candidate in entries:
            return [entries[candidate]]
        numbered = re.compile(re.escape(candidate) + r"\[\d+\]$")
        found = [entry for name, entry in entries.items() if numbered.match(name)]
        if found:
            return found
    return []


def _is_glob(path: str) -> bool:
    return "*" in path or "?" in path


def _as_pattern(path: str) -> str:
    return path.replace("[", "[[]")  # a bracket in a path is a number of an output, not a set of characters


def _wanted_by_glob(pattern: str, name: str) -> bool:
    """A glob over layers means their outputs; inputs are chosen by saying so."""
    return (not name.endswith("/input") and "/input[" not in name) or "/input" in pattern


def _by_predicate(catalogue: Catalogue, predicate: Callable[[Entry], bool]) -> list[Entry]:
    names = [name for name in SECTIONS if name not in ("tensors", "timing")]
    return [entry for name in names for entry in catalogue.section(name).values() if predicate(entry)]


def _is_output(entry: Entry) -> bool:
    return not re.search(r"/input(\[\d+\])?$", entry.path)


def _is_kind(entry: Entry, kind: type) -> bool:
    if entry.call is None:
        return False
    return isinstance(entry.call.layer, kind) or entry.call.kind == kind.__name__


def _nothing(message: str, catalogue: Catalogue) -> list[Entry]:
    layers = [e.path for e in catalogue.section("layers").values() if _is_output(e)]
    raise PathError(f"{message} Its layers are {layers[:20]}.")


def _name(function: Any) -> str:
    return getattr(function, "__name__", repr(function))


def _why_not(catalogue: Catalogue, path: str, where: str) -> str:
    mode = catalogue.program.mode
    reason = _missing_in_mode(path, mode, catalogue)
    if reason:
        return f"{where}: there is no {path!r} in {_MODE_NAMES[mode]}: {reason}"
    known = catalogue.paths()
    if path.lower().startswith("grad"):
        known = list(catalogue.section("gradients")) + known
    elif path.lower().startswith("updat"):
        known = list(catalogue.section("updates")) + known
    close = nearest_paths(path, known) or nearest_paths(path, catalogue.section("tensors"))
    if close:
        return f"{where}: {path!r} names nothing in this model. Did you mean {', '.join(map(repr, close))}?"
    return (
        f"{where}: {path!r} names nothing in this model, and nothing comes near it. Its paths begin with {SECTIONS}; "
        f"its layers are {[p for p in known if p.startswith('layers/')][:10]}."
    )


def _missing_in_mode(path: str, mode: str, catalogue: Catalogue) -> str:
    """Why a path of this kind cannot exist in this mode, or an empty text."""
    section = path.partition("/")[0]
    if mode == ModeKeys.PREDICT:
        reasons = {
            "labels": "predict() drops the labels. Use evaluate or train, or put them among the features.",
            "gradients": "a gradient needs the loss, and prediction has none. Use evaluate(taps=...) or train.",
            "loss": "prediction computes no loss. Use evaluate or train.",
        }
        if section in reasons:
            return reasons[section]
    if section == "updates" and mode != ModeKeys.TRAIN:
        return "weights change in training only. Watch it in train."
    if section == "learning_rate" and mode != ModeKeys.TRAIN:
        return "only training has an optimizer. Watch it in train."
    if section == "learning_rate":
        return "no learning rate can be told from this model's train_op. Add it to a graph collection in model_fn."
    if section == "metrics" and mode != ModeKeys.EVAL:
        return "metrics are computed in evaluation only. Use evaluate."
    if section == "slots" and mode != ModeKeys.TRAIN:
        return "optimizer state is loaded in training only. Read it with est.weights, or watch it in train."
    if section == "labels" and not catalogue.section("labels"):
        return "input_fn gave no labels."
    if section == "loss" and not catalogue.section("loss"):
        return "model_fn declared no loss."
    return ""
