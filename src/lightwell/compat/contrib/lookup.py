"""`tf.contrib.lookup`: tables between words and numbers.

Builds tables from files or tensors of words. Their initialisers are in `GraphKeys.TABLE_INITIALIZERS`, which
an Estimator runs. The tables are those of `tf.lookup`; words outside a vocabulary get the ids of 1.15.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType

_v1 = tf.compat.v1
KeyValueTensorInitializer = tf.lookup.KeyValueTensorInitializer
TextFileInitializer = tf.lookup.TextFileInitializer
TextFileIndex = tf.lookup.TextFileIndex
MutableHashTable = tf.lookup.experimental.MutableHashTable
MutableDenseHashTable = tf.lookup.experimental.DenseHashTable

HasherSpec = namedtuple("HasherSpec", ("hasher", "key"))
FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that nobody can aim at without its key: two integers."""

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        """Checks the key."""
        if len(key) != 2:
            raise UsageError(f"StrongHashSpec: key must have size 2, got {key!r}. Pass two integers.")
        if not all(isinstance(part, int) for part in key):
            raise WrongType(f"StrongHashSpec: Invalid key {key!r}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class HashTable(tf.compat.v1.lookup.StaticHashTable):
    """A table that is filled once, by its initialiser.

    Args:
        initializer: what fills it, as `KeyValueTensorInitializer`.
        default_value: for keys that it does not have.
        shared_name: taken for the sake of old programs; a table belongs to its graph and session.
        name: of the operation.
    """

    def __init__(self, initializer: Any, default_value: Any, shared_name: str | None = None, name: Any = None) -> None:
        super().__init__(initializer, default_value, name=name)

    @property
    def init(self) -> Any:
        """The operation that fills the table, by its older name."""
        return self.initializer


class TextFileIdTableInitializer(tf.lookup.TextFileInitializer):
    """From the words of a file, a line each, to the numbers of their lines."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: Any = tf.string,
    ) -> None:
        super().__init__(
            filename, key_dtype, key_column_index, tf.int64, value_column_index, vocab_size, delimiter, name
        )


class TextFileStringTableInitializer(tf.lookup.TextFileInitializer):
    """From the numbers of a file's lines to the words on them."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename, tf.int64, key_column_index, tf.string, value_column_index, vocab_size, delimiter, name
        )


class IdTableWithHashBuckets:
    """A table of ids; words that it does not have get ids behind its last one, by their hash.

    Args:
        table: a table from words (or integers) to ids; None if every word gets a hash.
        num_oov_buckets: how many ids there are for words that the table does not have.
        hasher_spec: `FastHashSpec`, or a `StrongHashSpec`.
        name: of the operations.
        key_dtype: type of the words when there is no table.
    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: Any = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ) -> None:
        self.key_dtype = tf.as_dtype(key_dtype or (table.key_dtype if table is not None else tf.string))
        self.value_dtype = tf.int64
        if table is None and num_oov_buckets <= 0:
            raise UsageError("IdTableWithHashBuckets: oov_buckets must be > 0 if no table is supplied.")
        if table is not None and tf.as_dtype(table.value_dtype) != tf.int64:
            raise WrongType(
                f"IdTableWithHashBuckets: expected a table of int64 ids, got one of {table.value_dtype}. "
                "Make its values tf.int64."
            )
        if not (self.key_dtype == tf.string or self.key_dtype.is_integer):
            raise WrongType(f"IdTableWithHashBuckets: Invalid key_dtype {self.key_dtype}; pass tf.string or tf.int64.")
        self._table = table
        self._buckets = num_oov_buckets
        self._hash = _hash_function(hasher_spec)
        self.name = name or (f"{table.name}_hash_bucket" if table is not None else "hash_bucket")

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return tf.no_op() if self._table is None else self._table.initializer

    @property
    def init(self) -> Any:
        """The same, by its older name."""
        return self.initializer

    @property
    def resource_handle(self) -> Any:
        """That of the table inside; None if there is none."""
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Any:
        """How many ids there are, those of the buckets included."""
        known = 0 if self._table is None else self._table.size()
        return tf.add(tf.cast(known, tf.int64), self._buckets, name=name)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of `keys`: a tensor or a SparseTensor."""
        sparse = keys if isinstance(keys, tf.SparseTensor) else None
        words = tf.convert_to_tensor(keys) if sparse is None else sparse.values
        if words.dtype.base_dtype != self.key_dtype:
            raise WrongType(f"{self.name}: Signature mismatch. Keys must be dtype {self.key_dtype}, got {words.dtype}.")
        if self._table is not None and tf.as_dtype(self._table.key_dtype) == tf.int64:
            words = tf.cast(words, tf.int64)
        with _v1.name_scope(name or f"{self.name}_lookup"):
            ids = self._ids(words)
        return ids if sparse is None else tf.SparseTensor(sparse.indices, ids, sparse.dense_shape)

    def _ids(self, words: Any) -> Any:
        if self._buckets == 0:
            return self._table.lookup(words)
        texts = words if words.dtype == tf.string else tf.strings.as_string(words)
        buckets = self._hash(texts, self._buckets)
        if self._table is None:
            return buckets
        ids = self._table.lookup(words)
        return tf.where(tf.equal(ids, self._table.default_value), buckets + self._table.size(), ids)


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = tf.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from the words of a file, a line each, to their line numbers.

    Args:
        vocabulary_file: a file name, or a tensor with one.
        num_oov_buckets: ids for words that the file does not have.
        vocab_size: how many lines to read; all if None.
        default_value: the id of other words when there are no buckets.
        hasher_spec: how words go to buckets.
        key_dtype: `tf.string` or an integer type.
        name: of the operations.
        key_column_index: the column that holds the words.
        value_column_index: the column that holds the ids.
        delimiter: between columns.
    """
    where = "index_table_from_file"
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise UsageError(f"{where}: vocabulary_file must be specified and must not be empty.")
    _check_buckets(where, num_oov_buckets)
    if isinstance(vocab_size, int) and vocab_size < 1:
        raise UsageError(f"{where}: vocab_size must be greater than 0, got {vocab_size}.")
    key_dtype = _check_key_dtype(where, key_dtype)
    with _v1.name_scope(name, "string_to_index"):
        initializer = TextFileIdTableInitializer(
            vocabulary_file,
            key_column_index,
            value_column_index,
            vocab_size,
            delimiter,
            key_dtype=tf.int64 if key_dtype.is_integer else key_dtype,
        )
        return _with_buckets(HashTable(initializer, default_value), num_oov_buckets, hasher_spec, key_dtype)


def index_table_from_tensor(
    mapping: Any = None,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = tf.string,
    name: str | None = None,
) -> Any:
    """A table from the words of a tensor to their places in it.

        ids = index_table_from_tensor(["lake", "palmer"], num_oov_buckets=1).lookup(words)

    Args:
        mapping: a list or a tensor of words, each once.
        num_oov_buckets: ids for words that it does not have.
        default_value: the id of other words when there are no buckets.
        hasher_spec: how words go to buckets.
        dtype: `tf.string` or an integer type.
        name: of the operations.
    """
    where = "index_table_from_tensor"
    if mapping is None:
        raise UsageError(f"{where}: mapping must be specified.")
    _check_buckets(where, num_oov_buckets)
    dtype = _check_key_dtype(where, dtype)
    with _v1.name_scope(name, "string_to_index"):
        keys = tf.convert_to_tensor(mapping)
        if keys.dtype.is_integer != dtype.is_integer or keys.dtype.is_floating:
            raise UsageError(f"{where}: Expected {'integer' if dtype.is_integer else 'non-integer'}, got {keys.dtype}.")
        keys = tf.cast(keys, tf.int64) if dtype.is_integer else keys
        ids = tf.range(tf.size(keys, out_type=tf.int64))
        return _with_buckets(
            HashTable(KeyValueTensorInitializer(keys, ids), default_value), num_oov_buckets, hasher_spec, dtype
        )


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: Any = None,
    default_value: Any = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> Any:
    """A table from line numbers of a file to the words there; `default_value` for other numbers."""
    where = "index_to_string_table_from_file"
    if isinstance(vocabulary_file, str) and not vocabulary_file:
        raise UsageError(f"{where}: vocabulary_file must be specified and must not be empty.")
    if isinstance(vocab_size, int) and vocab_size < 1:
        raise UsageError(f"{where}: vocab_size must be greater than 0, got {vocab_size}.")
    with _v1.name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter
        )
        return HashTable(initializer, default_value)


def index_to_string_table_from_tensor(mapping: Any = None, default_value: Any = "UNK", name: str | None = None) -> Any:
    """A table from places in a tensor of words to the words; `default_value` for other numbers."""
    if mapping is None:
        raise UsageError("index_to_string_table_from_tensor: mapping must be specified.")
    with _v1.name_scope(name, "index_to_string"):
        values = tf.convert_to_tensor(mapping, tf.string)
        keys = tf.range(tf.size(values, out_type=tf.int64))
        return HashTable(KeyValueTensorInitializer(keys, values), default_value)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Any:
    """The places of the words of `tensor` in `mapping`."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None) -> Any:
    """The words of `mapping` at the places that `tensor` holds."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """`index_table_from_file` by its older name."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, tf.string, name
    )


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """`index_table_from_tensor` by its older name."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, tf.string, name)


def _with_buckets(table: Any, num_oov_buckets: int, hasher_spec: Any, key_dtype: Any) -> Any:
    return (
        IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=key_dtype) if num_oov_buckets else table
    )


def _hash_function(spec: Any) -> Any:
    if not isinstance(spec, HasherSpec):
        raise WrongType(
            f"hasher_spec must be of type HasherSpec, got {spec!r}. Pass FastHashSpec or StrongHashSpec(key)."
        )
    if spec.hasher == "fasthash":
        return tf.strings.to_hash_bucket_fast
    if spec.hasher == "stronghash":
        return lambda words, buckets: tf.strings.to_hash_bucket_strong(words, buckets, list(spec.key))
    raise UsageError(f"Unknown hasher {spec.hasher!r}; there are fasthash and stronghash.")


def _check_buckets(where: str, num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise UsageError(f"{where}: num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")


def _check_key_dtype(where: str, dtype: Any) -> Any:
    dtype = tf.as_dtype(dtype)
    if dtype != tf.string and not dtype.is_integer:
        raise WrongType(f"{where}: Only integer and string keys are supported, got {dtype.name}.")
    return dtype
