"""Paths where TensorFlow takes a tensor's name: in `SessionRunArgs` of old hooks, in `LoggingTensorHook` and its
kin."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.engine.program import Program
from lightwell.errors import HookError
from lightwell.sight.catalogue import Catalogue
from lightwell.sight.derived import with_gradients
from lightwell.sight.select import select
from lightwell.sight.watch import Watch


def with_sight(program: Program, hooks: Sequence[Any], directory: str | None) -> Program:
    """Makes paths work in a program's hooks, and attaches the watches among them. The graph must still be open.

    Raises:
        PathError: a watch asks for a path that names nothing here.
    """
    find = finder(program)
    for hook in hooks:
        if isinstance(hook, Watch):
            hook.attach(program, directory)
        else:
            _tf.translate_tensor_names(hook, functools.partial(_find_for, find, type(hook).__name__))
    return dataclasses.replace(program, find=find)


def _find_for(find: Callable[[str, str], Any], where: str, name: str) -> Any:
    return find(name, where)


def finder(program: Program) -> Callable[[str, str], Any]:
    """A function from a name (TensorFlow's or a path) and who asks to what can be fetched.

    A name that TensorFlow knows is its business first, so old programs keep their meaning.
    """
    catalogue = Catalogue(program)
    known: dict[str, Any] = {}

    def find(name: str, where: str) -> Any:
        if name not in known:
            element = _of_tensorflow(program, name)
            known[name] = _by_path(name, where) if element is None else element
        return known[name]

    def _by_path(name: str, where: str) -> Any:
        entries = with_gradients(program, select(catalogue, name, where), where)
        unreadable = [entry.path for entry in entries if entry.tensor is None]
        if unreadable:
            raise HookError(
                f"{where}: {unreadable[0]!r} is no tensor of a step; read it with Watch({unreadable[0]!r}, ...)."
            )
        if len(entries) == 1:
            return entries[0].tensor
        return {entry.path: entry.tensor for entry in entries}

    return find


def _of_tensorflow(program: Program, name: str) -> Any:
    """What TensorFlow itself knows under a name; None if nothing. An op's name means its first output, if it has
    any."""
    try:
        element = program.graph.as_graph_element(name)
    except (KeyError, ValueError, TypeError):
        return None
    if isinstance(element, tf.Operation) and element.outputs:
        element = element.outputs[0]
    is_handle = isinstance(element, tf.Tensor) and element.dtype in (tf.resource, tf.variant)
    return None if is_handle else element
