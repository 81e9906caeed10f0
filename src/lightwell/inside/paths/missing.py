"""Why a path names nothing: there is no such thing in this mode, or another name is nearer."""

from __future__ import annotations

from lightwell.base.keys import ModeKeys
from lightwell.inside.paths.catalogue import SECTIONS, Catalogue, section_of
from lightwell.inside.paths.nearest import nearest_paths, spellings
from lightwell.inside.paths.patterns import is_glob
from lightwell.inside.paths.sections.base import Section
from lightwell.inside.paths.sections.graph import TENSORS
from lightwell.inside.paths.sections.layers import LAYERS

_MODE_NAMES = {ModeKeys.TRAIN: "training", ModeKeys.EVAL: "evaluation", ModeKeys.PREDICT: "prediction"}


def why_missing(catalogue: Catalogue, path: str, where: str) -> str:
    """The error text for a path that names nothing.

    Args:
        catalogue: the paths of the program.
        path: what the user wrote.
        where: who asks.
    """
    candidates = spellings(path)
    sections = [section for spelling in candidates if (section := section_of(spelling)) is not None]
    reason = next(filter(None, map(catalogue.why_missing, candidates)), "")
    if reason:
        return f"{where}: {path!r} cannot be read: {reason}"
    absent = next((section for section in sections if not catalogue.section(section)), None)
    if absent is not None:
        mode = catalogue.program.mode
        return f"{where}: there is no {path!r} in {_MODE_NAMES[mode]}: {absent.why_empty(mode)}"
    globs = [spelling for spelling in candidates if is_glob(spelling) and catalogue.find(spelling)]
    close = globs[:1] or nearest_paths(path, _known(catalogue, sections), globs=True)
    close = close or nearest_paths(path, catalogue.section(TENSORS))
    if close:
        return f"{where}: {path!r} names nothing in this model. Did you mean {', '.join(map(repr, close))}?"
    return (
        f"{where}: {path!r} names nothing in this model, and nothing comes near it. Its paths begin with "
        f"{', '.join(map(str, SECTIONS))}; its layers are {layers_of(catalogue)[:10]}."
    )


def layers_of(catalogue: Catalogue) -> list[str]:
    """The paths of the outputs of all layers."""
    return [entry.path for entry in catalogue.section(LAYERS).values() if not entry.is_input]


def _known(catalogue: Catalogue, sections: list[Section]) -> list[str]:
    """The paths to suggest; those that mirror others only where their section is written."""
    mirrors = [section for section in SECTIONS if section.is_mirror and section in sections]
    return [path for section in mirrors for path in catalogue.section(section)] + catalogue.paths()
