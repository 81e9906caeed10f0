"""What the index of a checkpoint says of each value: in which parts it is stored, and the checksum of its bytes.

Takes a checkpoint's prefix; reads its index alone, never the values. The index is a sorted table of keys and small
protocol buffers (`BundleEntryProto`); TensorFlow's reader tells names and shapes of them, but neither parts nor
checksums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.reader import open_checkpoint
from lightwell.errors import CheckpointUnreadable, reason_of

WHOLE = ""
"""How TensorFlow writes that a value is stored in one part."""

_FOOTER, _MAGIC = 48, b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
# The fields of a `BundleEntryProto`, and of the messages in it.
_SHAPE, _SHARD, _OFFSET, _SLICES = 2, 3, 4, 7
_HASH_BYTES = 6

_Fields = list[tuple[int, Any]]
_OF_DAMAGE = (IndexError, TypeError, ValueError)  # what bytes that are something else raise


def parts_of(prefix: str) -> dict[str, tuple[str, ...]]:
    """The names in a checkpoint, each with the parts that it is stored in.

    A part is told as `SaveV2` and `RestoreV2` take it: `"10 4 0,5:0,4"` are rows 0 to 5 of a value of shape [10, 4],
    and `""` is the whole. A name may have parts that do not make up the whole: the slot of one piece of a variable.

    Raises:
        CheckpointUnreadable: the index is missing or damaged.
    """
    if _is_one_file(prefix):
        return dict.fromkeys(open_checkpoint(prefix).get_variable_to_shape_map(), (WHOLE,))
    found: dict[str, tuple[str, ...]] = {}
    entries = list(_entries(prefix))
    try:
        for key, fields in entries:
            if key and not key.startswith(b"\0"):  # the header, and the parts themselves, which their whole lists too
                shape = _sizes(next((value for number, value in fields if number == _SHAPE), b""))
                parts = [_part(shape, value) for number, value in fields if number == _SLICES]
                found[key.decode()] = tuple(parts) or (WHOLE,)
    except _OF_DAMAGE as error:
        raise _damaged(prefix) from error
    return found


def content_hash(prefix: str) -> str:
    """A short hash of all that a checkpoint holds: names, types, shapes and the checksum of every value.

    Where in its files a value stands does not count: the same weights saved anew have the same hash.

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
    """Whether it is a checkpoint in the format of old."""
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


# The table: a footer says where the list of blocks stands, the list where each block does.


def _table(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    if content[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("no table")
    footer = content[-_FOOTER:]
    place = 0
    for _ in range(2):  # the block of further facts, of which there are none, then the list
        place, offset = _number(footer, place)
        place, size = _number(footer, place)
    for _, handle in _block(content, offset, size):
        after, start = _number(handle, 0)
        yield from _block(content, start, _number(handle, after)[1])


def _block(content: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a block; each key is told by how much of the one before it begins with."""
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
    found: _Fields = []
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
        found.append((tag >> 3, value))
    return found


def _number(data: bytes, place: int) -> tuple[int, int]:
    """(where it ends, the number) of seven bits in each byte, the lowest first."""
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
    """One `TensorSliceProto` in words; an extent without a length is all of it."""
    extents = [dict(_fields(extent)) for number, extent in _fields(slices) if number == 1]
    told = [f"{extent.get(1, 0)},{extent[2]}" if 2 in extent else "-" for extent in extents]
    return f"{' '.join(map(str, shape))} {':'.join(told)}"
