"""The variables of one checkpoint, by user-facing names.

`tf.train.Saver` writes variable names as keys. `tf.train.Checkpoint` writes the path from object to object, with a
prefix and a suffix; here such a key reads `model/dense/kernel`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from lightwell.inside.paths.reductions import Stats, stats_of
from lightwell.run.checkpoints.reader import open_checkpoint, variable_value

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE_MARK = "/.ATTRIBUTES/VARIABLE_VALUE"


@dataclass(frozen=True)
class StoredCheckpoint:
    """A checkpoint.

    Attributes:
        path: its path without ending.
    """

    path: str

    @functools.cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name to shape."""
        return {name: tuple(self._shape_map[key]) for name, key in self._keys.items()}

    @functools.cached_property
    def dtypes(self) -> dict[str, Any]:
        """Name to type."""
        known = open_checkpoint(self.path).get_variable_to_dtype_map()
        return {name: known[key] for name, key in self._keys.items()}

    def stats(self, name: str) -> Stats | None:
        """The statistics of a variable; None where it holds no numbers."""
        dtype = self.dtypes[name]
        if not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
            return None
        return stats_of(variable_value(self.path, self._keys[name]))

    @functools.cached_property
    def _shape_map(self) -> dict[str, list[int]]:
        shapes: dict[str, list[int]] = open_checkpoint(self.path).get_variable_to_shape_map()
        return shapes

    @functools.cached_property
    def _keys(self) -> dict[str, str]:
        """Name to the checkpoint's own key."""
        if _OBJECT_GRAPH not in self._shape_map:
            return {key: key for key in self._shape_map}
        return {key.removesuffix(_VALUE_MARK): key for key in self._shape_map if key != _OBJECT_GRAPH}
