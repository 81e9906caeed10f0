"""Why a path names nothing: there is no such thing in this mode, or something else was meant, and what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.keys import ModeKeys
from lightwell.sight.catalogue import SECTIONS, Catalogue
from lightwell.sight.nearest import nearest_paths, spellings

_MODE_NAMES = {ModeKeys.TRAIN: "training", ModeKeys.EVAL: "evaluation", ModeKeys.PREDICT: "prediction"}
_ONLY_IN = {
    ModeKeys.TRAIN: {
        "updates": "weights change in training only. Watch it in train.",
        "learning_rate": "only training has an optimizer. Watch it in train.",
        "slots": "optimizer state is loaded in training only. Read it with est.weights.slots, or watch it in train.",
    },
    ModeKeys.EVAL: {"metrics": "metrics are computed in evaluation only. Use evaluate."},
}
_NOT_IN_PREDICTION = {
    "labels": "predict() drops the labels. Use evaluate or train, or put them among the features.",
    "gradients": "a gradient needs the loss, and prediction has none. Use evaluate(taps=...) or train.",
    "loss": "prediction computes no loss. Use evaluate or train.",
}
_NOTHING_THERE = {
    "collections": "model_fn put no tensors into graph collections.",
    "features": "input_fn gave no features.",
    "labels": "input_fn gave no labels.",
    "layers": "model_fn called no layers.",
    "learning_rate": (
        "it cannot be told from this model's train_op. In model_fn, add it to the graph collection "
        "'lightwell/learning_rate'."
    ),
    "predictions": "model_fn declared no predictions in this mode.",
    "slots": "the optimizer of this model keeps no state.",
    "weights": "this model has no variables.",
}


def why_missing(catalogue: Catalogue, path: str, where: str, find: Callable[[Catalogue, str], list[Any]]) -> str:
    """The error text for a path that names nothing.

    Args:
        catalogue: the paths of the program.
        path: what the user wrote.
        where: who asks.
        find: gives what a path or a glob means, to try other spellings of a glob.
    """
    meant = spellings(path)
    sections = [spelling.partition("/")[0] for spelling in meant]
    absent = next((one for one in sections if one in SECTIONS and not catalogue.section(one)), None)
    if absent is not None:
        mode = catalogue.program.mode
        return f"{where}: there is no {path!r} in {_MODE_NAMES[mode]}: {_why_empty(absent, mode)}"
    globs = [spelling for spelling in meant if "*" in spelling and find(catalogue, spelling)]
    close = globs[:1] or nearest_paths(path, _known(catalogue, sections), globs=True)
    close = close or nearest_paths(path, catalogue.section("tensors"))
    if close:
        return f"{where}: {path!r} names nothing in this model. Did you mean {', '.join(map(repr, close))}?"
    layers = [entry.path for entry in catalogue.section("layers").values() if not entry.is_input]
    return (
        f"{where}: {path!r} names nothing in this model, and nothing comes near it. Its paths begin with "
        f"{', '.join(SECTIONS)}; its layers are {layers[:10]}."
    )


def _known(catalogue: Catalogue, sections: list[str]) -> list[str]:
    """Where to look for what was meant; what mirrors other values only if it is asked for."""
    mirrors = [name for name in ("gradients", "updates", "tensors") if name in sections]
    return [path for name in mirrors for path in catalogue.section(name)] + catalogue.paths()


def _why_empty(section: str, mode: str) -> str:
    """Why a section has nothing in a mode."""
    for only, reasons in _ONLY_IN.items():
        if mode != only and section in reasons:
            return reasons[section]
    if mode == ModeKeys.PREDICT and section in _NOT_IN_PREDICTION:
        return _NOT_IN_PREDICTION[section]
    return _NOTHING_THERE.get(section, "this model has none.")
