"""Reads the index of a checkpoint: in which parts each value is stored, and the checksum of its bytes.

Takes a checkpoint's prefix; reads its index alone, never the values. The index is a sorted table of keys and small
protocol buffers (`BundleEntryProto`), of which TensorFlow's reader returns names and shapes, but neither parts nor
checksums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.errors import CheckpointUnreadable, reason_of
from lightwell.run.checkpoints.reader import open_checkpoint

WHOLE = ""
"""TensorFlow's notation for a value that is stored in one part."""

_FOOTER, _MAGIC = 48, b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
# The fields of a `BundleEntryProto`, and of the messages in it.
_SHAPE, _SHARD, _OFFSET, _SLICES = 2, 3, 4, 7
_HASH_BYTES = 6

_Fields = list[tuple[int, Any]]
_OF_DAMAGE = (IndexError, TypeError, ValueError)  # what a damaged index raises when parsed


def parts_of(prefix: str) -> dict[str, tuple[str, ...]]:
    """The names in a checkpoint, each with the parts that it is stored in.

    A part is written as `SaveV2` and `RestoreV2` take it: `"10 4 0,5:0,4"` are rows 0 to 5 of a value of shape [10, 4],
    and `""` is the whole. A name may have parts that do not make up the whole: the slot of one piece of a variable.

    Raises:
        CheckpointUnreadable: the index is missing or damaged.
    """
    if _is_one_file(prefix):
        return dict.fromkeys(open_checkpoint(prefix).get_variable_to_shape_map(), (WHOLE,))
    parts_by_name: dict[str, tuple[str, ...]] = {}
    entries = list(_entries(prefix))
    try:
        for key, fields in entries:
            if key and not key.startswith(b"\0"):  # the header, and the parts themselves, which their whole lists too
                shape = _sizes(next((value for number, value in fields if number == _SHAPE), b""))
                parts = [_part(shape, value) for number, value in fields if number == _SLICES]
                parts_by_name[key.decode()] = tuple(parts) or (WHOLE,)
    except _OF_DAMAGE as error:
        raise _damaged(prefix) from error
    return parts_by_name


def content_hash(prefix: str) -> str:
    """A short hash of all that a checkpoint holds: names, types, shapes and the checksum of every value.

    The position of a value in the files does not count: the same weights saved again have the same hash.

    Raises:
        CheckpointUnreadable: the index is missing or damaged.
    """
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    if _is_one_file(prefix):
        with tf.io.gfile.GFile(prefix, "rb") as file:
            digest.update(file.read())
        return digest.hexdigest()
    for key, fields in _entries(prefix):
        if key:
            digest.update(repr((key, [one for one in fields if one[0] not in (_SHARD, _OFFSET)])).encode())
    return digest.hexdigest()


def _is_one_file(prefix: str) -> bool:
    """Whether it is a checkpoint in the old format."""
    return not tf.io.gfile.exists(f"{prefix}.index") and bool(tf.io.gfile.exists(prefix))


def _entries(prefix: str) -> Iterator[tuple[bytes, _Fields]]:
    try:
        with tf.io.gfile.GFile(f"{prefix}.index", "rb") as file:
            content: bytes = file.read()
    except tf.errors.OpError as error:
        raise CheckpointUnreadable(f"Checkpoint {prefix} cannot be read: {reason_of(error)}.") from error
    try:
        yield from [(key, _fields(value)) for key, value in _table(content)]
    except _OF_DAMAGE as error:
        raise _damaged(prefix) from error


def _damaged(prefix: str) -> CheckpointUnreadable:
    return CheckpointUnreadable(f"Checkpoint {prefix}: its index is damaged.")


# The table: a footer has the position of the list of blocks, the list that of each block.


def _table(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    if content[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("no table")
    footer = content[-_FOOTER:]
    place = 0
    for _ in range(2):  # the empty metadata block, then the list
        place, offset = _number(footer, place)
        place, size = _number(footer, place)
    for _, handle in _block(content, offset, size):
        after, start = _number(handle, 0)
        yield from _block(content, start, _number(handle, after)[1])


def _block(content: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a block; each key is stored without the prefix that it shares with the one before."""
    block = content[offset : offset + size]
    if len(block) != size or content[offset + size] != 0:  # 0: not compressed, as TensorFlow writes it
        raise ValueError("a block cannot be read")
    end = size - 4 * (1 + int.from_bytes(block[-4:], "little"))
    place, key = 0, b""
    while place < end:
        place, shared = _number(block, place)
        place, own = _number(block, place)
        place, length = _number(block, place)
        key = key[:shared] + block[place : place + own]
        place += own
        yield key, block[place : place + length]
        place += length


# Protocol buffers, as far as these entries use them.


def _fields(message: bytes) -> _Fields:
    fields: _Fields = []
    place = 0
    while place < len(message):
        place, tag = _number(message, place)
        value: Any
        if tag & 7 == 0:
            place, value = _number(message, place)
        else:
            size = {1: 8, 5: 4}.get(tag & 7)
            if size is None:
                place, size = _number(message, place)
            value, place = message[place : place + size], place + size
        fields.append((tag >> 3, value))
    return fields


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Parses a varint; returns its end and its value."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return place, value


def _sizes(shape: Any) -> list[int]:
    """The sizes in a `TensorShapeProto`."""
    return [int(dict(_fields(dimension)).get(1, 0)) for number, dimension in _fields(shape) if number == 2]


def _part(shape: list[int], slices: Any) -> str:
    """One `TensorSliceProto` as text; an extent without a length is all of it."""
    extents = [dict(_fields(extent)) for number, extent in _fields(slices) if number == 1]
    texts = [f"{extent.get(1, 0)},{extent[2]}" if 2 in extent else "-" for extent in extents]
    return f"{' '.join(map(str, shape))} {':'.join(texts)}"
