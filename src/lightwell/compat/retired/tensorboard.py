"""Cells of `tf.contrib.tensorboard`."""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "lightwell.compat.contrib.tensorboard"
_NAMES = "EmbeddingInfo PROJECTOR_FILENAME ProjectorConfig SpriteMetadata visualize_embeddings"
CELLS: Mapping[str, str] = {name: f"{_HERE}.projector:{name}" for name in _NAMES.split()} | {
    "": "?tensorboard The package tensorboard has the rest: pip install tensorboard.",
    "plugins": _HERE,
    "projector": f"{_HERE}.projector",
}
