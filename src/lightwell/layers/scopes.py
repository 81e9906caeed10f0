"""Where a layer's variables and operations live.

Owns `LayerScope`: the variable scope that a layer takes at its first call and keeps for every later one. Takes the
`name`, `_scope` and `reuse` a user gave; gives a context in which `get_variable` and new operations carry the names
that TensorFlow 1 gave them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell import _tf


class LayerScope:
    """The variable scope of one layer.

    Args:
        base_name: the scope's name when the user named none; made unique unless variables are shared.
        reuse: `None`, `True` or `tf.compat.v1.AUTO_REUSE`, as in `variable_scope`.
        wanted: a scope name or a `VariableScope` to live in exactly.
    """

    def __init__(self, base_name: str, *, reuse: Any = None, wanted: Any = None) -> None:
        self._base_name = base_name
        self._reuse = reuse
        self._scope: Any = None
        if wanted is not None:
            self._capture(wanted)

    @property
    def is_open(self) -> bool:
        return self._scope is not None

    @property
    def path(self) -> str:
        """The scope's full name, `block/conv2d`; empty in the root scope."""
        return str(self._scope.name) if self._scope is not None else ""

    def settle(self, wanted: Any = None) -> None:
        """Takes a scope now, if none was taken yet."""
        if self._scope is None:
            self._capture(self._wished(wanted))

    def path_ahead(self, wanted: Any = None) -> str:
        """The full name of the scope that `settle` would take now."""
        if self._scope is not None:
            return self.path
        with _tf.scopes_tried(), self._opened(self._wished(wanted), auxiliary_name_scope=False) as scope:
            return str(scope.name)

    @contextlib.contextmanager
    def enter(self, *, share: bool) -> Iterator[Any]:
        """Enters the scope, with its variables shared when `share` or when the layer was made with `reuse`."""
        reuse = True if share else self._reuse
        with (
            tf.compat.v1.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope,
            tf.name_scope(scope.original_name_scope),
        ):
            yield scope

    def _wished(self, wanted: Any) -> Any:
        """What to open: None for a new name made of the base name."""
        return self._base_name if wanted is None and self._reuse else wanted

    def _capture(self, wanted: Any) -> None:
        with self._opened(wanted) as scope:
            self._scope = scope

    def _opened(self, wanted: Any, **settings: Any) -> Any:
        default_name = self._base_name if wanted is None else None
        return tf.compat.v1.variable_scope(wanted, default_name=default_name, reuse=self._reuse, **settings)


@contextlib.contextmanager
def unpartitioned() -> Iterator[None]:
    """Makes variables in one piece, whatever partitioner the current variable scope has."""
    scope = tf.compat.v1.get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    try:
        yield
    finally:
        scope.set_partitioner(partitioner)
