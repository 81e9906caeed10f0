"""Tracebacks of the verbs: the user's frames, without those of the engine between them.

An error in `model_fn`, in a hook or in a step passes a dozen functions of ours on its way to the user's call. They are
left out, unless the error is a bug of ours, or `tf.debugging.disable_traceback_filtering()` was called, which is
TensorFlow's own switch for the same.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TypeVar, cast

from lightwell.errors import LightwellError

_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def brief(verb: _Verb) -> _Verb:
    """A verb whose errors show the user's frames alone; a function or a generator."""

    @functools.wraps(verb)
    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return verb(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(_shortened(error))  # noqa: B904  the same error, whatever it came from

    @functools.wraps(verb)
    def told_while_iterating(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from verb(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(_shortened(error))  # noqa: B904  the same error, whatever it came from

    return cast(_Verb, told_while_iterating if inspect.isgeneratorfunction(verb) else told)


def _shortened(error: Exception) -> TracebackType | None:
    """An error's traceback without our frames."""
    import tensorflow as tf

    frames: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    is_on_purpose = isinstance(error, LightwellError | tf.errors.OpError)
    if not tf.debugging.is_traceback_filtering_enabled() or (_is_ours(frames[-1]) and not is_on_purpose):
        return error.__traceback__
    kept: TracebackType | None = None
    for frame in reversed(frames):
        if not _is_ours(frame):
            kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def _is_ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(_HERE)
