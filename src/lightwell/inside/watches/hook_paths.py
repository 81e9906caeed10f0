"""Paths where TensorFlow takes a tensor's name: in `SessionRunArgs` of old hooks, in `LoggingTensorHook` and its
kin."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import HookError, PathError
from lightwell.foreign import private_hooks
from lightwell.inside.paths.catalogue import SECTIONS, Catalogue
from lightwell.inside.paths.request import make_fetches
from lightwell.inside.paths.select import select
from lightwell.inside.watches.watch import Watch
from lightwell.run.engine.program import Program
from lightwell.run.hooks.base import Late, ScheduledHook


def with_paths(program: Program, hooks: Sequence[Any], directory: str) -> Program:
    """Makes paths work in a program's hooks, and attaches the watches among them. The graph must still be open.

    Args:
        program: what will run.
        hooks: all hooks of the user around it.
        directory: where watches write events.

    Raises:
        PathError: a watch asks for a path that names nothing here.
    """
    find = Finder(program)
    if any(not isinstance(hook, ScheduledHook) for hook in hooks):
        find.join_replicas()
    for hook in hooks:
        if isinstance(hook, Watch):
            hook.attach(program, directory)
        elif not isinstance(hook, ScheduledHook):
            private_hooks.translate_tensor_names(hook, functools.partial(find.in_constructor, type(hook).__name__))
    return dataclasses.replace(program, find=find)


class Finder:
    """Finds what a name means, TensorFlow's or a path, for hooks that fetch by name.

    A name that TensorFlow knows is its business first, so old programs keep their meaning.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._catalogue = Catalogue(program)
        self._known: dict[str, Any] = {}
        self._joined: dict[str, Any] = {}

    def join_replicas(self) -> None:
        """Makes ready what each replica of a strategy has a value of: hooks ask when the graph is final."""
        replicas = self._program.replicas
        if replicas is None:
            return
        sections = [section for section in SECTIONS if section.is_by_replica and not section.is_mirror]
        for section in sections:
            listed = list(self._catalogue.section(section))
            for path in (
                *listed,
                *(f"{one}@replica:{number}" for one in listed for number in range(len(replicas.specs))),
            ):
                choices = select(self._catalogue, path, "SessionRunArgs")
                fetches = make_fetches(self._program, [choices], "SessionRunArgs")
                self._joined.update(
                    {choice.entry.path: fetches[choice.key] for choice in choices if choice.key in fetches}
                )

    def __call__(self, name: str, where: str) -> Any:
        """What to fetch for a name that a hook wrote in place of a tensor.

        Args:
            name: the name.
            where: who asks, for the error.

        Returns:
            A tensor or an op, or a `Late` one; a dict of them by path where the name means several.

        Raises:
            PathError: it names nothing.
            HookError: it names something that a fetch cannot get.
        """
        if name not in self._known:
            element = self._of_tensorflow(name)
            self._known[name] = self._by_path(name, where) if element is None else element
        return self._known[name]

    def in_constructor(self, where: str, name: str, with_step: bool) -> Any:
        """The fetch for a name in the constructor of a TensorFlow hook; the name itself where it names nothing yet.

        TensorFlow looks such a name up in the hook's `begin`, and another hook may create the tensor before. What is
        not fetched with the step must not depend on it: that would run one more step.
        """
        if self._of_tensorflow(name) is not None:
            return name
        try:
            fetch = self(name, where) if with_step else self._by_path(name, where, outside_step=True)
        except PathError:
            return name
        if isinstance(fetch, dict):
            raise HookError(f"{where}: {name!r} means several values, {list(fetch)[:5]}. Name one, or use a Watch.")
        if isinstance(fetch, Late):
            raise _not_of_the_step(name, where)
        return fetch

    def _by_path(self, name: str, where: str, outside_step: bool = False) -> Any:
        choices = select(self._catalogue, name, where)
        for choice in choices:
            section = choice.entry.section
            if section.is_measured or section.is_a_change:
                raise _not_of_the_step(choice.key, where)
        if not outside_step and all(choice.entry.path in self._joined for choice in choices):
            fetches = {choice.key: self._joined[choice.entry.path] for choice in choices}
        else:
            fetches = make_fetches(self._program, [choices], where, outside_step=outside_step)
        return next(iter(fetches.values())) if len(choices) == 1 else fetches

    def _of_tensorflow(self, name: str) -> Any:
        """What TensorFlow itself knows under a name; None if nothing. An op's name means its first output, if it has
        any. A summary is asked for by its tensor's name: that of the loss, which every training has, is called `loss`,
        and nobody who writes so wants it."""
        try:
            element = self._program.graph.as_graph_element(name)
        except (KeyError, ValueError, TypeError):
            return None
        if isinstance(element, tf.Operation) and element.outputs:
            if element.type.endswith("Summary"):
                return None
            element = element.outputs[0]
        is_handle = isinstance(element, tf.Tensor) and element.dtype in (tf.resource, tf.variant)
        return None if is_handle else element


def _not_of_the_step(name: str, where: str) -> HookError:
    return HookError(
        f"{where}: {name!r} is known only once the step is over, and cannot be fetched with it; read it with "
        f"Watch({name!r}, ...)."
    )
