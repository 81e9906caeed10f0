"""Running fetches in a session without paying for their preparation each time.

`Session.run` resolves its fetches anew on every call; hooks mostly ask for the same ones. `CachedCalls` prepares a
callable per set of fetches and keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

_MOST_CALLABLES = 64


class CachedCalls:
    """Runs structures of fetches in one session; those seen before are prepared already.

    Args:
        session: an open session.
        translate: turns a structure of fetches into the one to run in its place.
    """

    def __init__(self, session: tf.compat.v1.Session, translate: Callable[[Any], Any] | None = None) -> None:
        self._session = session
        self._translate = translate if translate is not None else _same
        self._callables: dict[Any, tuple[Callable[..., Any], Any]] = {}

    def run(
        self,
        fetches: Any,
        feeds: Mapping[Any, Any] | None = None,
        options: Any = None,
        about: Any = None,
        *,
        told_by: Any = None,
    ) -> Any:
        """Runs `fetches` as `Session.run` would.

        Args:
            fetches: a structure of what a session can fetch.
            feeds: tensors to values.
            options: `RunOptions`.
            about: a `RunMetadata` to fill in.
            told_by: the part of `fetches` that differs from call to call, if the rest never does.
        """
        if feeds or options is not None:
            return self._session.run(self._translate(fetches), feeds, options, about)
        key = key_of(fetches if told_by is None else told_by)
        found = self._callables.get(key)
        if found is None:
            if len(self._callables) >= _MOST_CALLABLES:  # a hook that makes up new fetches each step
                return self._session.run(self._translate(fetches))
            # The fetches are kept beside their callable: the key holds their ids, which must not be given to others.
            found = self._callables[key] = (self._session.make_callable(self._translate(fetches)), fetches)
        return found[0]()

    def run_with(self, placeholder: Any, value: Any, fetches: Any) -> Any:
        """Runs `fetches` with one value fed, the placeholder being the same in all calls for these fetches."""
        key = key_of(fetches)
        found = self._callables.get(key)
        if found is None:
            made = self._session.make_callable(self._translate(fetches), feed_list=[placeholder])
            found = self._callables[key] = (made, fetches)
        return found[0](value)


def _same(fetches: Any) -> Any:
    return fetches


def key_of(fetches: Any) -> Any:
    """A hashable stand-in for a structure of fetches: its shape, with each leaf told by identity or name."""
    if isinstance(fetches, Mapping):
        return (type(fetches), tuple((name, key_of(value)) for name, value in fetches.items()))
    if isinstance(fetches, tuple | list):
        return (type(fetches), tuple(key_of(value) for value in fetches))
    return fetches if isinstance(fetches, str) else id(fetches)
