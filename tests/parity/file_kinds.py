"""Programs whose models read files, or list them, wherever an op can stand; the files change between calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf
from tests.parity.fresh_kinds import Kind, Maker

Read = Callable[[], Any]
Place = Callable[[Read, Any], Any]


def _in_a_function_of_a_function(read: Read, x: Any) -> Any:
    inner = tf.function(read)
    return tf.function(lambda: inner() + 0.0)()


def _in_a_loop(read: Read, x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 2, lambda i, _: (i + 1, read()), [0, 0.0])[1]


PLACES: dict[str, Place] = {
    "in the model": lambda read, x: read(),
    "in a function": lambda read, x: tf.function(read)(),
    "in a function in a function": _in_a_function_of_a_function,
    "in a branch": lambda read, x: tf.cond(tf.reduce_sum(x) < 1e6, read, lambda: 0.0),
    "in a branch of several": lambda read, x: tf.switch_case(tf.cast(tf.reduce_sum(x) < 1e6, tf.int32), [read, read]),
    "in a loop": _in_a_loop,
    "in a map": lambda read, x: tf.map_fn(lambda _: read(), x)[0],
    "in a branch in a function": lambda read, x: tf.function(
        lambda x: tf.cond(tf.reduce_sum(x) < 1e6, read, lambda: 0.0)
    )(x),
}


def _reading(folder: Path, place: Place) -> Kind:
    path = folder / "number.txt"

    def write(number: int) -> None:
        path.write_text(str(10 * number))

    write(0)
    return Kind(lambda x: x + place(lambda: tf.strings.to_number(tf.io.read_file(str(path))), x), between=write)


def _listing(folder: Path, place: Place) -> Kind:
    def write(number: int) -> None:
        (folder / f"listed-{number}").write_text("")

    write(0)

    def count() -> Any:
        return tf.cast(tf.size(tf.io.matching_files(str(folder / "listed-*"))), tf.float32)

    return Kind(lambda x: x + place(count, x), between=write)


FILE_KINDS: dict[str, Maker] = {
    **{f"a file read {name}": lambda folder, place=place: _reading(folder, place) for name, place in PLACES.items()},
    "files listed in the model": lambda folder: _listing(folder, PLACES["in the model"]),
    "files listed in a branch": lambda folder: _listing(folder, PLACES["in a branch"]),
}
