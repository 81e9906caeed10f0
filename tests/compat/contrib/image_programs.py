"""Programs over `tf.contrib.image`; see `playing.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

PICTURES = np.random.RandomState(0).uniform(size=[2, 5, 6, 3]).astype(np.float32)


def turned_and_moved(tf: Any) -> Any:
    image, pictures = tf.contrib.image, tf.constant(PICTURES)
    return {
        "rotated": image.rotate(pictures, [0.3, -1.2]),
        "smooth": image.rotate(pictures, 0.5, interpolation="BILINEAR"),
        "one": image.rotate(pictures[0], np.pi / 2),
        "plane": image.rotate(pictures[0, :, :, 0], 0.7),
        "moved": image.translate(pictures, [[1.0, -2.0], [0.5, 0.0]], "BILINEAR"),
        "bytes": image.translate(tf.cast(pictures * 255, tf.uint8), [1, 1]),
    }


def transformed(tf: Any) -> Any:
    image, pictures = tf.contrib.image, tf.constant(PICTURES)
    turn = image.angles_to_projective_transforms(0.4, 5, 6)
    move = image.translations_to_projective_transforms([1.0, 2.0])
    both = image.compose_transforms(turn, move)
    return {
        "turn": turn,
        "both": both,
        "out": image.transform(pictures, both),
        "matrices": image.flat_transforms_to_matrices(both),
        "flat": image.matrices_to_flat_transforms(2.0 * image.flat_transforms_to_matrices(move)),
    }


def warped(tf: Any) -> Any:
    flow = np.random.RandomState(1).normal(0, 2, size=[2, 5, 6, 2]).astype(np.float32)
    return {"out": tf.contrib.image.dense_image_warp(tf.constant(PICTURES), tf.constant(flow))}


PROGRAMS: dict[str, Any] = {one.__name__: one for one in (turned_and_moved, transformed, warped)}
