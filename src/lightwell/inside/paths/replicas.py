"""Values of a model that a strategy runs several times: one by one, and joined.

Takes a program whose model has replicas; gives the program of each, and fetches over all of them. What has a row for
each example is joined in the order of the replicas, without the rows of a replica that had no batch of its own; a
gradient is that of the mean loss; anything else is that of the first replica.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.inside.paths.sections.base import Entry, Section
from lightwell.model.spec import EstimatorSpec
from lightwell.run.engine.program import Program

_OF_ONE = re.compile(r"(.*)@replica:(\d+)")
Fetching = Callable[[Program, Sequence[Entry], str], dict[str, Any]]


def replica_in(path: str) -> tuple[str, int | None]:
    """A path without the replica that it asks for, and its number: `layers/dense@replica:1`."""
    match = _OF_ONE.fullmatch(path)
    return (match.group(1), int(match.group(2))) if match else (path, None)


def programs_of(program: Program) -> list[Program]:
    """The program of each replica; the program itself where there is one."""
    if program.replicas is None:
        return [program]
    together = zip(program.replicas.batches, program.replicas.specs, strict=True)
    return [
        dataclasses.replace(
            program,
            inputs=dataclasses.replace(program.inputs, features=batch.features, labels=batch.labels),
            spec=spec if program.spec.train_op is None else _in_one_step(program, spec),
            layers=program.layers if number == 0 else program.layers.replicas[number],
            replicas=None,
        )
        for number, (batch, spec) in enumerate(together)
    ]


def _in_one_step(program: Program, spec: EstimatorSpec) -> EstimatorSpec:
    """The spec of a replica, with the step that all of them make together."""
    with program.graph.as_default():
        return spec._replace(train_op=program.spec.train_op)


def of_replica(entry: Entry, number: int, mark: bool = True) -> Entry:
    """An entry of the program of a replica, with what that replica has of a variable; marked as such in its path."""
    source = None if entry.source is None else of_replica(entry.source, number, mark=False)
    tensor = entry.tensor
    if isinstance(tensor, tf.Variable):
        parts = private_tf.parts_of(tensor)
        tensor = parts[number] if len(parts) > number else tensor
    path, replica = (f"{entry.path}@replica:{number}", number) if mark else (entry.path, entry.replica)
    return dataclasses.replace(entry, path=path, replica=replica, tensor=tensor, source=source)


def fetches_over_replicas(
    program: Program, section: Section, entries: Sequence[Entry], make: Fetching, where: str, find: Any
) -> dict[str, Any]:
    """What `make` gives for entries of a section, over all replicas.

    Args:
        program: the program.
        section: the section of the entries.
        entries: what to fetch; those that ask for one replica get it.
        make: gives the fetches for entries of one program.
        where: who asks, for errors.
        find: gives the entry of a path in the program of a replica.
    """
    if program.replicas is None:
        return make(program, entries, where)
    programs = programs_of(program)
    fetches: dict[str, Any] = {}
    joined = [entry for entry in entries if entry.replica is None]
    if not section.is_by_replica:
        fetches.update(make(program, joined, where))
    elif joined:
        by_replica = [
            make(one, [of_replica(find(one, entry), number, mark=False) for entry in joined], where)
            for number, one in enumerate(programs)
        ]
        there = [batch.is_own for batch in program.replicas.batches]
        for entry in joined:
            values = [of_one.get(entry.path) for of_one in by_replica]
            if all(value is not None for value in values):
                fetches[entry.path] = section.over_replicas(entry, values, there)
    for number, one in enumerate(programs):
        own = [entry for entry in entries if entry.replica == number]
        if own:
            fetches.update(make(one, own, where))
    return fetches
