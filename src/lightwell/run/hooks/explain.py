"""Better texts for exceptions of hooks: an empty collection, an unknown name, a graph that is final.

The new exception has the same built-in type. Whatever else user code raises goes through unchanged.
"""

from __future__ import annotations

import difflib
import linecache
import os
import re
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import EmptyCollection, HookError, LightwellError, PathError, UnknownName

EXPLAINABLE = (IndexError, KeyError, ValueError, RuntimeError)
_NO_SUCH_NAME = re.compile(r"The name '([^']+)' (?:refers to an? \w+ (?:which does not exist|not in the graph)|looks)")
_FINAL = "Graph is finalized and cannot be modified"
_GET_COLLECTION = re.compile(r"get_collection(?:_ref)?\(\s*(?P<quote>['\"])(?P<name>.+?)(?P=quote)")


def explained(
    error: BaseException, hook: Any, method: str, find: Callable[[str, str], Any] | None
) -> LightwellError | None:
    """A better exception for the one that `hook.method` raised, or None if there is nothing to add.

    Args:
        error: the exception.
        hook: the hook.
        method: the name of its method.
        find: resolves a name or a path, or raises a `PathError` with the nearest ones.
    """
    if isinstance(error, LightwellError) or type(error) not in EXPLAINABLE:
        return None
    hook = getattr(hook, "_hook", hook)  # one of TensorFlow's, wrapped
    where = f"{type(hook).__name__}.{method}"
    if isinstance(error, IndexError):
        return _empty_collection(error, where)
    if _FINAL in str(error):
        return HookError(
            f"{where} adds to the graph{_place(error, hook)}: {_FINAL} once the session is open. Make tensors and "
            "operations in begin(), and keep them in the hook."
        )
    unknown = _NO_SUCH_NAME.search(str(error))
    return None if unknown is None else _unknown_name(unknown.group(1), where, find)


def _empty_collection(error: BaseException, where: str) -> LightwellError | None:
    """The error for `get_collection("typo")[0]`: the name is read from the source line that raised."""
    graph = tf.compat.v1.get_default_graph()
    call = _GET_COLLECTION.search(_last_line(error))
    if call is None or graph.get_collection(call["name"]):
        return None
    name = call["name"]
    known = sorted(key for key in graph.get_all_collection_keys() if isinstance(key, str) and key[:1] != "_")
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    nearest = f"The nearest is {close[0]!r}" if close else "There is none like it"
    return EmptyCollection(
        f"{where}: the graph collection {name!r} is empty. {nearest}; this graph has {', '.join(map(repr, known))}. "
        f"In model_fn, tf.compat.v1.add_to_collection({name!r}, tensor) puts something there."
    )


def _last_line(error: BaseException) -> str:
    """The source line that raised an exception; empty where the source is not at hand."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)


def _unknown_name(name: str, where: str, find: Callable[[str, str], Any] | None) -> LightwellError:
    if find is None:
        return UnknownName(f"{where}: {name!r} names nothing in this graph.")
    try:
        find(name, where)
    except PathError as better:
        return UnknownName(str(better))
    except HookError as better:
        return better
    return UnknownName(
        f"{where}: {name!r} is a path, not the name of a tensor of TensorFlow's. Fetch it by itself: "
        f"tf.compat.v1.train.SessionRunArgs({name!r})."
    )


def _place(error: BaseException, hook: Any) -> str:
    """Where in the hook's own file an exception came from: ` (file.py, line 7: x = tf.constant(1))`."""
    module = sys.modules.get(type(hook).__module__)
    file = getattr(module, "__file__", None)
    place, trace = "", error.__traceback__
    while trace is not None:
        name, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if name == file:
            place = f" ({os.path.basename(name)}, line {line}: {linecache.getline(name, line).strip()})"
        trace = trace.tb_next
    return place
