"""Cases of `tf.contrib.lookup`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
WORDS = ["emerson", "lake", "palmer"]
ASKED = ["emerson", "king", "lake", "crimson", "palmer", "", "lake "]


def _file(text: str) -> str:
    handle, path = tempfile.mkstemp(suffix=".txt")
    with os.fdopen(handle, "w") as opened:
        opened.write(text)
    return path


def vocabulary() -> str:
    return _file("".join(f"{word}\n" for word in WORDS))


def from_file(contrib: Any) -> Any:
    lookup = contrib.lookup
    plain = lookup.index_table_from_file(vocabulary())
    first_two = lookup.index_table_from_file(vocabulary(), vocab_size=2, default_value=7)
    buckets = lookup.index_table_from_file(vocabulary_file=vocabulary(), num_oov_buckets=5)
    strong = lookup.index_table_from_file(
        vocabulary(), num_oov_buckets=5, hasher_spec=lookup.StrongHashSpec([12345, 67890]), name="strong"
    )
    only_buckets = lookup.IdTableWithHashBuckets(None, num_oov_buckets=6)
    columns = lookup.index_table_from_file(
        _file("3,a\n1,lake\n9,b\n"), key_column_index=1, value_column_index=0, delimiter=","
    )
    numbers = lookup.index_table_from_file(_file("10\n20\n30\n"), key_dtype=tf.int64, num_oov_buckets=2)
    asked = tf.constant(ASKED)
    return {
        "plain": plain.lookup(asked),
        "plain_size": plain.size(),
        "first_two": first_two.lookup(asked),
        "buckets": buckets.lookup(asked),
        "buckets_size": buckets.size(),
        "strong": strong.lookup(asked),
        "only_buckets": only_buckets.lookup(asked),
        "columns": columns.lookup(asked),
        "numbers": numbers.lookup(tf.constant([20, 30, 31, 32], tf.int64)),
        "sparse": plain.lookup(tf.SparseTensor([[0, 1], [2, 0]], ["lake", "nobody"], [3, 2])),
        "sparse_buckets": buckets.lookup(tf.SparseTensor([[0, 1], [2, 0]], ["lake", "nobody"], [3, 2])),
    }


def from_tensor(contrib: Any) -> Any:
    lookup = contrib.lookup
    asked = tf.constant(ASKED)
    plain = lookup.index_table_from_tensor(tf.constant(WORDS))
    buckets = lookup.index_table_from_tensor(mapping=WORDS, num_oov_buckets=3, default_value=-1)
    numbers = lookup.index_table_from_tensor([5, 7, 9], dtype=tf.int64, default_value=100)
    whole = lookup.index_table_from_tensor([5, 7, 9], dtype=tf.int32, num_oov_buckets=2)
    return {
        "plain": plain.lookup(asked),
        "buckets": buckets.lookup(asked),
        "numbers": numbers.lookup(tf.constant([9, 8, 7], tf.int64)),
        "whole": whole.lookup(tf.constant([9, 8, 7, 3], tf.int32)),
        "matrix": plain.lookup(tf.constant([["lake", "x"], ["y", "palmer"]])),
        "old_names": lookup.string_to_index_table_from_tensor(WORDS).lookup(asked),
        "old_file": lookup.string_to_index_table_from_file(vocabulary(), num_oov_buckets=1).lookup(asked),
        "string_to_index": lookup.string_to_index(asked, WORDS, default_value=42),
        "index_to_string": lookup.index_to_string(tf.constant([2, 9, 0], tf.int64), WORDS, default_value="??"),
    }


def to_string(contrib: Any) -> Any:
    lookup = contrib.lookup
    asked = tf.constant([1, 5, 0, -1], tf.int64)
    return {
        "file": lookup.index_to_string_table_from_file(vocabulary()).lookup(asked),
        "file_default": lookup.index_to_string_table_from_file(vocabulary(), 2, "none").lookup(asked),
        "tensor": lookup.index_to_string_table_from_tensor(WORDS, "gone").lookup(asked),
        "columns": lookup.index_to_string_table_from_file(
            _file("1 a\n5 b\n"), key_column_index=0, value_column_index=1, delimiter=" "
        ).lookup(asked),
    }


def classes(contrib: Any) -> Any:
    lookup = contrib.lookup
    pairs = lookup.KeyValueTensorInitializer(["a", "b"], [10, 20])
    table = lookup.HashTable(pairs, -1, shared_name="mine", name="pairs")
    ids = lookup.HashTable(lookup.TextFileIdTableInitializer(vocabulary()), -5)
    words = lookup.HashTable(lookup.TextFileStringTableInitializer(vocabulary()), "?")
    lines = lookup.HashTable(
        lookup.TextFileInitializer(
            vocabulary(),
            tf.string,
            lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            lookup.TextFileIndex.LINE_NUMBER,
            vocab_size=3,
        ),
        -1,
    )
    return {
        "init": table.init,
        "table": table.lookup(tf.constant(["b", "c"])),
        "ids": ids.lookup(tf.constant(ASKED)),
        "words": words.lookup(tf.constant([1, 4], tf.int64)),
        "lines": lines.lookup(tf.constant(ASKED)),
        "size": lines.size(),
    }


def mutable(contrib: Any) -> Any:
    lookup = contrib.lookup
    table = lookup.MutableHashTable(tf.string, tf.int64, -1)
    dense = lookup.MutableDenseHashTable(tf.int64, tf.float32, default_value=0.5, empty_key=-1, deleted_key=-2)
    vectors = lookup.MutableHashTable(tf.string, tf.float32, [0.0, 1.0], name="vectors")
    keys = tf.constant(["a", "b", "a"])
    return {
        "insert": table.insert(keys, tf.constant([1, 2, 3], tf.int64)),
        "size": table.size(),
        "found": table.lookup(tf.constant(["a", "b", "c"])),
        "remove": table.remove(tf.constant(["b"])),
        "export": list(table.export()),
        "dense_insert": dense.insert(tf.constant([4, 5], tf.int64), tf.constant([1.5, 2.5])),
        "dense": dense.lookup(tf.constant([5, 6], tf.int64)),
        "vectors_insert": vectors.insert(tf.constant(["x"]), tf.constant([[3.0, 4.0]])),
        "vectors": vectors.lookup(tf.constant(["x", "y"])),
    }


CASES = {
    "from_file": from_file,
    "from_tensor": from_tensor,
    "to_string": to_string,
    "classes": classes,
    "mutable": mutable,
}
