"""Projective transforms of images: `rotate`, `translate`, `transform` and what makes them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1
_TYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """Turns images about their middle, against the clock.

    Args:
        images: `[height, width]`, with channels behind, and with a batch before these.
        angles: in radians: one number, or one per image.
        interpolation: `NEAREST` or `BILINEAR`.
        name: of the operation.
    """
    with v1.name_scope(name, "rotate", [images, angles]):
        batch, _ = _as_batch(tf.convert_to_tensor(images))
        sizes = tf.cast(tf.shape(batch)[1:3], tf.float32)
        return transform(images, angles_to_projective_transforms(angles, sizes[0], sizes[1]), interpolation)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Any:
    """Moves images by `[dx, dy]`: one pair, or one per image."""
    with v1.name_scope(name, "translate", [images, translations]):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def transform(
    images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None, name: str | None = None
) -> Any:
    """Applies transforms to images; what comes from outside of an image is zero.

    Args:
        images: `[height, width]`, with channels behind, and with a batch before these.
        transforms: eight numbers, or eight per image.
        interpolation: `NEAREST` or `BILINEAR`.
        output_shape: `[height, width]` of the result; that of the images if None.
        name: of the operation.

    Raises:
        WrongType: images are of a type that cannot be transformed.
        UsageError: images or transforms are of a rank that is none of these.
    """
    with v1.name_scope(name, "transform", [images, transforms]):
        values = tf.convert_to_tensor(images)
        if values.dtype not in _TYPES:
            raise WrongType(f"transform: Invalid dtype {values.dtype}; images are one of {[t.name for t in _TYPES]}.")
        batch, rank = _as_batch(values)
        eight = tf.convert_to_tensor(transforms, tf.float32)
        if eight.shape.rank not in (1, 2):
            raise UsageError(f"transform: Transforms should have rank 1 or 2, but got rank {eight.shape.rank}.")
        if eight.shape.rank == 1:
            eight = eight[None]
        size = tf.shape(batch)[1:3] if output_shape is None else tf.cast(output_shape, tf.int32)
        made = tf.raw_ops.ImageProjectiveTransformV3(
            images=batch,
            transforms=eight,
            output_shape=size,
            fill_value=0.0,
            interpolation=interpolation.upper(),
            fill_mode="CONSTANT",
        )
        known = tf.get_static_value(size)
        sizes = batch.shape[1:3] if known is None and output_shape is None else known
        made.set_shape([batch.shape[0], *(sizes if sizes is not None else (None, None)), batch.shape[3]])
        if rank == 2:
            return made[0, :, :, 0]
        return made[0] if rank == 3 else made


def compose_transforms(*transforms: Any) -> Any:
    """The transform that is all of these, one after the other.

    Raises:
        UsageError: there are none.
    """
    if not transforms:
        raise UsageError("compose_transforms: transforms cannot be empty.")
    with tf.name_scope("compose_transforms"):
        whole = flat_transforms_to_matrices(transforms[0])
        for one in transforms[1:]:
            whole = tf.matmul(whole, flat_transforms_to_matrices(one))
        return matrices_to_flat_transforms(whole)


def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Transforms of eight numbers as matrices, `[number, 3, 3]`."""
    with tf.name_scope("flat_transforms_to_matrices"):
        flat = tf.convert_to_tensor(transforms, tf.float32)
        if flat.shape.rank not in (1, 2):
            raise UsageError(f"Transforms should be 1D or 2D, got: {flat}.")
        flat = tf.reshape(flat, [-1, 8])
        return tf.reshape(tf.concat([flat, tf.ones([tf.shape(flat)[0], 1])], 1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """Matrices as transforms of eight numbers, `[number, 8]`."""
    with tf.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, tf.float32)
        if matrices.shape.rank not in (2, 3):
            raise UsageError(f"Matrices should be 2D or 3D, got: {matrices}.")
        flat = tf.reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:9])[:, :8]


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: str | None = None) -> Any:
    """The transforms that turn images of a size about their middle."""
    with v1.name_scope(name, "angles_to_projective_transforms", [angles, image_height, image_width]):
        turns = tf.convert_to_tensor(angles, tf.float32)
        if turns.shape.rank not in (0, 1):
            raise UsageError("angles_to_projective_transforms: Angles should have rank 0 or 1.")
        turns = tf.reshape(turns, [-1])
        cos, sin = tf.cos(turns), tf.sin(turns)
        wide, high = tf.cast(image_width, tf.float32) - 1.0, tf.cast(image_height, tf.float32) - 1.0
        right = (wide - (cos * wide - sin * high)) / 2.0
        down = (high - (sin * wide + cos * high)) / 2.0
        none = tf.zeros_like(turns)
        return tf.stack([cos, -sin, right, sin, cos, down, none, none], 1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Any:
    """The transforms that move images by `[dx, dy]`."""
    with v1.name_scope(name, "translations_to_projective_transforms", [translations]):
        moves = tf.convert_to_tensor(translations, tf.float32)
        if moves.shape.rank not in (1, 2):
            raise UsageError("translations_to_projective_transforms: Translations should have rank 1 or 2.")
        moves = tf.reshape(moves, [-1, 2])
        none, one = tf.zeros_like(moves[:, 0]), tf.ones_like(moves[:, 0])
        return tf.stack([one, none, -moves[:, 0], none, one, -moves[:, 1], none, none], 1)


def _as_batch(images: Any) -> tuple[Any, int]:
    rank = images.shape.rank
    if rank == 2:
        return images[None, :, :, None], rank
    if rank == 3:
        return images[None], rank
    if rank == 4:
        return images, rank
    raise UsageError(f"Images should have rank between 2 and 4, got shape {images.shape}.")
