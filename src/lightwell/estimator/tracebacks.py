"""Tracebacks of the verbs, without the frames of Lightwell.

An error in `model_fn`, in a hook or in a step passes a dozen of our functions on its way to the user. Their frames are
removed, unless the error is a bug of Lightwell or `tf.debugging.disable_traceback_filtering()` was called.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TypeVar, cast

from lightwell.base import package
from lightwell.errors import LightwellError

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


def with_short_traceback(verb: _Verb) -> _Verb:
    """Decorate a function or a generator: its errors show only the user's frames."""

    @functools.wraps(verb)
    def call_verb(*args: Any, **kwargs: Any) -> Any:
        try:
            return verb(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(_shortened(error))  # noqa: B904  the same error, whatever it came from

    @functools.wraps(verb)
    def iterate_verb(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from verb(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(_shortened(error))  # noqa: B904  the same error, whatever it came from

    return cast(_Verb, iterate_verb if inspect.isgeneratorfunction(verb) else call_verb)


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
    shortened: TracebackType | None = None
    for frame in reversed(frames):
        if not _is_ours(frame):
            shortened = TracebackType(shortened, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shortened


def _is_ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(package.FOLDER)
