"""Paths where TensorFlow takes a tensor's name: in `SessionRunArgs` of old hooks, in `LoggingTensorHook` and its
kin."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.engine.program import Program
from lightwell.errors import HookError, PathError
from lightwell.hooks.base import ScheduledHook
from lightwell.hooks.explain import note_empty_collections
from lightwell.keys import ModeKeys
from lightwell.sight.catalogue import Catalogue, Entry
from lightwell.sight.derived import independent, make_gradients
from lightwell.sight.request import read_of
from lightwell.sight.select import Choice, select
from lightwell.sight.watch import Watch


def with_sight(program: Program, hooks: Sequence[Any], directory: str) -> Program:
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
        note_empty_collections(program.graph)
        if program.mode == ModeKeys.TRAIN:
            find.prepare_weights()
    for hook in hooks:
        if isinstance(hook, Watch):
            hook.attach(program, directory)
        elif not isinstance(hook, ScheduledHook):
            _tf.translate_tensor_names(hook, functools.partial(find.in_constructor, type(hook).__name__))
    return dataclasses.replace(program, find=find)


class Finder:
    """Finds what a name means, TensorFlow's or a path, for hooks that fetch by name.

    A name that TensorFlow knows is its business first, so old programs keep their meaning.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._catalogue = Catalogue(program)
        self._known: dict[str, Any] = {}
        self._weights: dict[str, Any] = {}

    def __call__(self, name: str, where: str) -> Any:
        """What to fetch for a name that a hook wrote in place of a tensor.

        Args:
            name: the name.
            where: who asks, for the error.

        Returns:
            A tensor or an op; a dict of them by path where the name means several.

        Raises:
            PathError: it names nothing.
            HookError: it names something that a fetch cannot get.
        """
        if name not in self._known:
            element = self._of_tensorflow(name)
            self._known[name] = self._by_path(name, where) if element is None else element
        return self._known[name]

    def in_constructor(self, where: str, name: str, with_step: bool) -> Any:
        """The same for a name that a hook of TensorFlow was made with; the name itself where it means nothing yet.

        TensorFlow looks such a name up in the hook's `begin`, and another hook may create the tensor before. What is
        not fetched with the step must not depend on it: that would run one more step.
        """
        if self._of_tensorflow(name) is not None:
            return name
        try:
            found = self(name, where) if with_step else self._by_path(name, where, with_step=False)
        except PathError:
            return name
        if isinstance(found, dict):
            raise HookError(f"{where}: {name!r} means several values, {list(found)[:5]}. Name one, or use a Watch.")
        return found

    def prepare_weights(self) -> None:
        """Makes the reads of weights after a step, while the graph can still grow; a hook may ask for any of them."""
        with self._program.graph.as_default(), tf.name_scope("lightwell/sight"):
            for section in ("weights", "slots"):
                for path, entry in self._catalogue.section(section).items():
                    self._weights[path] = read_of(self._program, entry)

    def _by_path(self, name: str, where: str, with_step: bool = True) -> Any:
        choices = select(self._catalogue, name, where)
        derived = [choice.entry for choice in choices if choice.entry.section == "gradients"]
        gradients = make_gradients(self._program, derived, where)
        found = {choice.key: self._fetch(choice, gradients, where, with_step) for choice in choices}
        found = {key: fetch for key, fetch in found.items() if fetch is not None}
        if not found:
            raise independent(choices[0].entry.path, where)
        return next(iter(found.values())) if len(choices) == 1 else found

    def _fetch(self, choice: Choice, gradients: dict[str, Any], where: str, with_step: bool) -> Any:
        entry: Entry = choice.entry
        if entry.section == "gradients":
            return gradients.get(entry.path)
        if entry.tensor is None or entry.section == "metrics":
            raise HookError(
                f"{where}: {choice.key!r} is known only once the step is over, and cannot be fetched with it; read it "
                f"with Watch({choice.key!r}, ...)."
            )
        if entry.section == "global_step" and not with_step:
            return self._program.global_step
        return self._weights.get(entry.path, entry.tensor) if with_step else entry.tensor

    def _of_tensorflow(self, name: str) -> Any:
        """What TensorFlow itself knows under a name; None if nothing. An op's name means its first output, if it has
        any."""
        try:
            element = self._program.graph.as_graph_element(name)
        except (KeyError, ValueError, TypeError):
            return None
        if isinstance(element, tf.Operation) and element.outputs:
            element = element.outputs[0]
        is_handle = isinstance(element, tf.Tensor) and element.dtype in (tf.resource, tf.variant)
        return None if is_handle else element
