"""The catalogue of a program: every value it has, by path.

Takes a built `Program`, gives `Entry` values. Nothing is added to the graph here. `SECTIONS` is the list of all kinds
of value; what is special about one is in its class, in `sections/`.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell.inside.paths.optimizer_state import split_variables
from lightwell.inside.paths.replicas import of_replica, programs_of, replica_in
from lightwell.inside.paths.sections.base import Entry, Section
from lightwell.inside.paths.sections.declared import LEARNING_RATE, LOSS, METRICS, STEP_COUNTER
from lightwell.inside.paths.sections.gradients import GRADIENTS
from lightwell.inside.paths.sections.graph import COLLECTIONS, TENSORS
from lightwell.inside.paths.sections.layers import LAYERS
from lightwell.inside.paths.sections.structures import FEATURES, LABELS, PREDICTIONS
from lightwell.inside.paths.sections.timing import TIMING
from lightwell.inside.paths.sections.updates import UPDATES
from lightwell.inside.paths.sections.variables import SLOTS, WEIGHTS
from lightwell.run.engine.program import Program

SECTIONS: tuple[Section, ...] = (
    *(FEATURES, LABELS, LAYERS, WEIGHTS, SLOTS, GRADIENTS, UPDATES, PREDICTIONS),
    *(LOSS, METRICS, LEARNING_RATE, STEP_COUNTER, COLLECTIONS, TENSORS, TIMING),
)
_BY_NAME = {section.name: section for section in SECTIONS}


def section_of(path: str) -> Section | None:
    """The section that a path begins with; None for a bare name."""
    return _BY_NAME.get(path.partition("/")[0])


class Catalogue:
    """All paths of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._entries: dict[Section, dict[str, Entry]] = {}

    def section(self, section: Section) -> dict[str, Entry]:
        """The entries of one section, by path, in their natural order."""
        if section not in self._entries:
            self._entries[section] = section.entries(self)
        return self._entries[section]

    def paths(self) -> list[str]:
        """All paths but those that mirror others."""
        return [path for section in SECTIONS if not section.is_mirror for path in self.section(section)]

    def find(self, path: str) -> list[Entry]:
        """The entries that a path, a glob or a bare name means; none if it names nothing.

        `@replica:1` behind it asks for the value of one replica of a strategy, in place of those of all.
        """
        path, number = replica_in(path)
        if number is not None:
            programs = programs_of(self.program)
            entries = Catalogue(programs[number]).find(path) if number < len(programs) else []
            return [of_replica(entry, number) for entry in entries]
        for section, full in _full_paths(path):
            entries = section.resolve(full, self.section(section))
            if entries:
                return entries
        return []

    def why_missing(self, path: str) -> str:
        """What a section knows about a path that names nothing; empty where it knows nothing."""
        reasons = (section.why_missing(full, self) for section, full in _full_paths(path))
        return next(filter(None, reasons), "")

    @functools.cached_property
    def variables(self) -> tuple[list[Any], list[Any]]:
        """The variables of the program: weights, and what an optimizer keeps."""
        return split_variables(self.program.graph)

    @functools.cached_property
    def trained(self) -> frozenset[int]:
        """The ids of the variables that are trained."""
        return frozenset(map(id, self.program.graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)))


def _full_paths(path: str) -> list[tuple[Section, str]]:
    """Where to look for what a user wrote: in its section, or for a bare name in those that take one."""
    named = section_of(path)
    if named is not None:
        return [(named, path)]
    bare = [(section, f"{section}/{path}") for section in SECTIONS if section.takes_bare_names]
    # In TensorFlow 1 a variable was a tensor that had its value, and programs fetch it by that name.
    name = path.removesuffix(":0")
    variables = [(STEP_COUNTER, name), (WEIGHTS, f"{WEIGHTS}/{name}"), (SLOTS, f"{SLOTS}/{name}")]
    return bare if name == path else bare + variables
