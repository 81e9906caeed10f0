"""What an exception of a hook means, where TensorFlow says too little: an empty collection, an unknown name, a graph
that is final.

Takes the exception that a hook's method raised, gives a better one of the same built-in type, or None: whatever else
user code raises is its own business.
"""

from __future__ import annotations

import difflib
import linecache
import os
import re
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

from lightwell.errors import EmptyCollection, HookError, LightwellError, PathError, UnknownName

EXPLAINABLE = (IndexError, KeyError, ValueError, RuntimeError)
_NO_SUCH_NAME = re.compile(r"The name '([^']+)' (?:refers to an? \w+ (?:which does not exist|not in the graph)|looks)")
_FINAL = "Graph is finalized and cannot be modified"
_NOTES = "_lightwell_empty_collections"
called_hook: ContextVar[Any] = ContextVar("called_hook", default=None)
"""The hook that is being called. Told by its caller, and not found in the stack: reading the locals of a frame makes
Python keep a copy of them, and so keeps whatever the user holds there alive."""


def note_empty_collections(graph: tf.Graph) -> None:
    """Lets a graph remember which collections hooks asked for that were empty.

    `get_collection("typo")[0]` fails outside of TensorFlow, and what was asked for is forgotten by then.
    """
    if hasattr(graph, _NOTES):
        return
    notes: list[tuple[int, str]] = []
    setattr(graph, _NOTES, notes)
    for name in ("get_collection", "get_collection_ref"):
        setattr(graph, name, _noting(getattr(graph, name), notes))


def explained(
    error: BaseException, hook: Any, method: str, find: Callable[[str, str], Any] | None
) -> LightwellError | None:
    """A better exception for the one that `hook.method` raised, or None if there is nothing to add.

    Args:
        error: what was raised.
        hook: the hook.
        method: the name of its method.
        find: finds what a name or a path means, or raises a `PathError` with the nearest ones.
    """
    if isinstance(error, LightwellError) or type(error) not in EXPLAINABLE:
        return None
    hook = _unwrapped(hook)
    where = f"{type(hook).__name__}.{method}"
    if isinstance(error, IndexError):
        return _empty_collection(hook, where)
    if _FINAL in str(error):
        return HookError(
            f"{where} adds to the graph{_place(error, hook)}: {_FINAL} once the session is open. Make tensors and "
            "operations in begin(), and keep them in the hook."
        )
    unknown = _NO_SUCH_NAME.search(str(error))
    return None if unknown is None else _unknown_name(unknown.group(1), where, find)


def _unwrapped(hook: Any) -> Any:
    return getattr(hook, "_hook", hook)  # one of TensorFlow's, wrapped


def _noting(original: Callable[..., Any], notes: list[tuple[int, str]]) -> Callable[..., Any]:
    def get(name: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(name, *args, **kwargs)
        if not found and isinstance(name, str):
            hook = _unwrapped(called_hook.get())
            if hook is not None and (id(hook), name) not in notes:
                notes.append((id(hook), name))
        return found

    return get


def _empty_collection(hook: Any, where: str) -> LightwellError | None:
    graph = tf.compat.v1.get_default_graph()
    asked = [name for who, name in getattr(graph, _NOTES, ()) if who == id(hook) and not graph.get_collection(name)]
    if not asked:
        return None
    known = sorted(name for name in graph.get_all_collection_keys() if isinstance(name, str) and name[:1] != "_")
    close = difflib.get_close_matches(asked[-1], known, n=3, cutoff=0.5)
    there = f"The nearest is {close[0]!r}" if close else "There is none like it"
    return EmptyCollection(
        f"{where}: the graph collection {asked[-1]!r} is empty. {there}; this graph has {', '.join(map(repr, known))}. "
        f"In model_fn, tf.compat.v1.add_to_collection({asked[-1]!r}, tensor) puts something there."
    )


def _unknown_name(name: str, where: str, find: Callable[[str, str], Any] | None) -> LightwellError:
    if find is None:
        return UnknownName(f"{where}: {name!r} names nothing in this graph.")
    try:
        find(name, where)
    except PathError as told:
        return UnknownName(str(told))
    except HookError as told:
        return told
    return UnknownName(
        f"{where}: {name!r} is a path, not the name of a tensor of TensorFlow's. Fetch it by itself: "
        f"tf.compat.v1.train.SessionRunArgs({name!r})."
    )


def _place(error: BaseException, hook: Any) -> str:
    """Where in the hook's own file an exception came from: ` (file.py, line 7: x = tf.constant(1))`."""
    module = sys.modules.get(type(hook).__module__)
    file = getattr(module, "__file__", None)
    found, trace = "", error.__traceback__
    while trace is not None:
        name, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if name == file:
            found = f" ({os.path.basename(name)}, line {line}: {linecache.getline(name, line).strip()})"
        trace = trace.tb_next
    return found
