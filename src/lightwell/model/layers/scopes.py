"""Where a layer's variables and operations live.

`LayerScope` is the variable scope that a layer opens at its first call and reuses in every later one. Inside it,
`get_variable` and new operations have the names of TensorFlow 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf


class LayerScope:
    """The variable scope of one layer.

    Args:
        base_name: the default name of the scope; numbered unless variables are shared.
        reuse: `None`, `True` or `tf.compat.v1.AUTO_REUSE`, as in `variable_scope`.
        scope: the exact scope: a name or a `VariableScope`.
    """

    def __init__(self, base_name: str, *, reuse: Any = None, scope: Any = None) -> None:
        self._base_name = base_name
        self._reuse = reuse
        self._scope: Any = None
        if scope is not None:
            self._capture(scope)

    @property
    def is_open(self) -> bool:
        return self._scope is not None

    @property
    def path(self) -> str:
        """The scope's full name, `block/conv2d`; empty in the root scope."""
        return str(self._scope.name) if self._scope is not None else ""

    def settle(self, scope: Any = None) -> None:
        """Opens the scope now, if it was not opened before."""
        if self._scope is None:
            self._capture(self._resolve(scope))

    def path_ahead(self, scope: Any = None) -> str:
        """The full name of the scope that `settle` would open now."""
        if self._scope is not None:
            return self.path
        with (
            private_tf.preserve_scope_counts(),
            self._variable_scope(self._resolve(scope), auxiliary_name_scope=False) as opened,
        ):
            return str(opened.name)

    @contextlib.contextmanager
    def enter(self, *, share: bool) -> Iterator[Any]:
        """Enters the scope, with its variables shared when `share` or when the layer has `reuse`."""
        reuse = True if share else self._reuse
        with (
            tf.compat.v1.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope,
            tf.name_scope(scope.original_name_scope),
        ):
            yield scope

    def _resolve(self, scope: Any) -> Any:
        """The scope to open; None for a new scope named after the base name."""
        return self._base_name if scope is None and self._reuse else scope

    def _capture(self, scope: Any) -> None:
        with self._variable_scope(scope) as opened:
            self._scope = opened

    def _variable_scope(self, scope: Any, **settings: Any) -> Any:
        default_name = self._base_name if scope is None else None
        return tf.compat.v1.variable_scope(scope, default_name=default_name, reuse=self._reuse, **settings)


@contextlib.contextmanager
def unpartitioned() -> Iterator[None]:
    """Creates variables unpartitioned, whatever partitioner the current variable scope has."""
    scope = tf.compat.v1.get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    try:
        yield
    finally:
        scope.set_partitioner(partitioner)
