"""`tf.contrib.image.dense_image_warp`: an image bent by a flow of its own for every point."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

v1 = tf.compat.v1


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """Takes each point `[y, x]` of the result from `[y, x] - flow[y, x]`, between the four points about it.

    Args:
        image: `[batch, height, width, channels]`.
        flow: `[batch, height, width, 2]`.
        name: of the operation.

    Raises:
        UsageError: the image is smaller than two points.
    """
    with v1.name_scope(name, "dense_image_warp", [image, flow]):
        values, moves = tf.convert_to_tensor(image), tf.convert_to_tensor(flow)
        if any(size is not None and size < 2 for size in values.shape[1:3]):
            raise UsageError(f"dense_image_warp: Grid height and width must be at least 2, got shape {values.shape}.")
        shape = tf.shape(values)
        rows = tf.cast(tf.range(shape[1]), moves.dtype)[None, :, None] - moves[..., 0]
        columns = tf.cast(tf.range(shape[2]), moves.dtype)[None, None, :] - moves[..., 1]
        made = _between(values, rows, columns, shape)
        made.set_shape(values.shape)
        return made


def _between(values: Any, rows: Any, columns: Any, shape: Any) -> Any:
    top, down = _floor_and_share(rows, shape[1])
    left, right = _floor_and_share(columns, shape[2])
    down, right = (tf.cast(share, values.dtype)[..., None] for share in (down, right))

    def at(row: Any, column: Any) -> Any:
        return tf.gather_nd(values, tf.stack([row, column], -1), batch_dims=1)

    above = at(top, left) + right * (at(top, left + 1) - at(top, left))
    below = at(top + 1, left) + right * (at(top + 1, left + 1) - at(top + 1, left))
    return above + down * (below - above)


def _floor_and_share(places: Any, size: Any) -> tuple[Any, Any]:
    """The point before each place, and how far the place is from it to the next; places beyond the edge are on it."""
    last = tf.cast(size - 2, places.dtype)
    start = tf.clip_by_value(tf.floor(places), tf.zeros([], places.dtype), last)
    return tf.cast(start, tf.int32), tf.clip_by_value(places - start, 0.0, 1.0)
