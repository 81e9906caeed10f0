"""Cells of `tf.contrib.slim`: what layers and framework have, and the rest in the package that carries it on."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired import framework, layers
from lightwell.compat.retired.sentences import IN_SLIM

_PAGES = {name: f"lightwell.compat.tf1.contrib:{name}" for name in ("layers", "losses", "metrics")}

CELLS: Mapping[str, str] = (
    framework.WRITTEN
    | layers.WRITTEN
    | layers.COLUMNS
    | _PAGES
    | {"nest": "lightwell.compat.contrib.framework.nest", "": f"?tf_slim {IN_SLIM}"}
)
