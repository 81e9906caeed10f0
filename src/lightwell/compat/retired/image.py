"""Cells of `tf.contrib.image`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import ADDONS

_TRANSFORMS = """
    angles_to_projective_transforms compose_transforms flat_transforms_to_matrices matrices_to_flat_transforms rotate
    transform translate translations_to_projective_transforms
"""

CELLS: Mapping[str, str] = {
    name: f"lightwell.compat.contrib.image.transforms:{name}" for name in _TRANSFORMS.split()
} | {
    "dense_image_warp": "lightwell.compat.contrib.image.warp:dense_image_warp",
    "": ADDONS,
}
