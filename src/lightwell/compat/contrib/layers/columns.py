"""The old feature columns of `tf.contrib.layers`, as columns of `tf.feature_column`.

Each function returns a column that canned models and `input_layer` take, too. What the old one
said beyond that stays on it as `contrib`, for `column_inputs.py`: the combiner of a sparse column, and the key by which
columns were ordered.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.layers.old_crossings import with_old_hash
from lightwell.errors import UsageError, WrongType

_columns = tf.feature_column
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE


@dataclass(frozen=True)
class Contrib:
    """What an old column said beyond the one of today.

    Attributes:
        key: how it was written out, which is the order of columns in a layer.
        name: the scope of its variables.
        combiner: how the values of several ids of one example become one.
    """

    key: str
    name: str
    combiner: str = "sum"


@functools.cache
def _class_that_wraps(base: Any) -> Any:
    """The class of a column of ids has no public name: that of a column at hand is taken."""

    class WrappingColumn(base):
        """Whole numbers as ids; those beyond the last begin again, as in `tf.contrib`."""

        def _transform_input_tensor(self, input_tensor: Any) -> Any:
            values = tf.math.floormod(tf.cast(input_tensor.values, tf.int64), self.number_buckets)
            return tf.SparseTensor(input_tensor.indices, values, input_tensor.dense_shape)

    return WrappingColumn


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> Any:
    """Numbers as they are: `tf.feature_column.numeric_column`.

    Args:
        column_name: the feature.
        dimension: how many numbers an example has.
        default_value: for examples without the feature.
        dtype: of the feature.
        normalizer: applied to the numbers.
    """
    if dimension is None:
        raise UsageError(
            "real_valued_column: dimension=None, for numbers of any length, is not there. Give the number of them, or "
            "pad the feature."
        )
    made = _columns.numeric_column(column_name, (dimension,), default_value, dtype, normalizer)
    key = f"_RealValuedColumn(column_name={column_name!r}, dimension={dimension}, default_value={default_value}"
    return _noted(made, Contrib(key, column_name))


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: Any = tf.string, hash_keys: Any = None
) -> Any:
    """Words or numbers by their hash: `tf.feature_column.categorical_column_with_hash_bucket`.

    Args:
        column_name: the feature.
        hash_bucket_size: how many ids there are.
        combiner: how the weights of several ids are combined in a linear model.
        dtype: of the feature.
        hash_keys: not there.
    """
    if hash_keys is not None:
        raise UsageError("sparse_column_with_hash_bucket: hash_keys is not there. Leave it out: one hash is taken.")
    made = _columns.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)
    return _sparse(made, "Hashed", column_name, combiner, bucket_size=hash_bucket_size)


def sparse_column_with_keys(
    column_name: str, keys: Sequence[Any], default_value: int = -1, combiner: str = "sum", dtype: Any = tf.string
) -> Any:
    """Words by their place in a list: `tf.feature_column.categorical_column_with_vocabulary_list`."""
    made = _columns.categorical_column_with_vocabulary_list(column_name, tuple(keys), dtype, default_value)
    return _sparse(made, "Keys", column_name, combiner, bucket_size=None)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> Any:
    """Whole numbers as ids, modulo `bucket_size`; else like `tf.feature_column.categorical_column_with_identity`."""
    if bucket_size <= 1:
        raise UsageError(f"bucket_size must be at least 1. bucket_size: {bucket_size}, column_name: {column_name}")
    if not tf.as_dtype(dtype).is_integer:
        raise UsageError(f"dtype must be an integer. dtype: {dtype}, column_name: {column_name}")
    plain = _columns.categorical_column_with_identity(column_name, bucket_size)
    base: Any = type(plain)
    made = _class_that_wraps(base)(*plain)
    return _sparse(made, "Integerized", column_name, combiner, bucket_size=bucket_size)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """Words by their line in a file: `tf.feature_column.categorical_column_with_vocabulary_file`."""
    if vocab_size is None:
        raise UsageError("sparse_column_with_vocabulary_file: vocab_size must be specified.")
    made = tf.compat.v1.feature_column.categorical_column_with_vocabulary_file(
        column_name,
        vocabulary_file,
        vocab_size,
        num_oov_buckets,
        default_value if not num_oov_buckets else None,
        dtype,
    )
    return _sparse(made, "Vocabulary", column_name, combiner, bucket_size=None)


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype: Any = tf.float32) -> Any:
    """Ids with weights of another feature: `tf.feature_column.weighted_categorical_column`."""
    made = _columns.weighted_categorical_column(sparse_id_column, weight_column_name, dtype)
    within = contrib_of(sparse_id_column)
    key = f"_WeightedSparseColumn(sparse_id_column={within.key}), weight_column_name={weight_column_name!r}"
    return _noted(made, Contrib(key, made.name, within.combiner))


def one_hot_column(sparse_id_column: Any) -> Any:
    """How often each id comes: `tf.feature_column.indicator_column`."""
    within = contrib_of(sparse_id_column)
    made = _columns.indicator_column(sparse_id_column)
    return _noted(made, Contrib(f"_OneHotColumn(sparse_id_column={within.key})", f"{within.name}_one_hot"))


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """A vector for each id: `tf.feature_column.embedding_column`.

    Args:
        sparse_id_column: the ids.
        dimension: the size of a vector.
        combiner: `mean`, `sqrtn` or `sum`: how the vectors of several ids become one.
        initializer: normal numbers of the deviation `1 / sqrt(number of ids)`, cut at two of them, if None.
        ckpt_to_load_from, tensor_name_in_ckpt: the checkpoint and the name to start from.
        max_norm: longer vectors are cut to this length.
        trainable: whether the vectors are trained.
    """
    made = _columns.embedding_column(
        sparse_id_column,
        dimension,
        combiner,
        initializer or _usual(sparse_id_column.num_buckets),
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
    within = contrib_of(sparse_id_column)
    key = f"_EmbeddingColumn(sparse_id_column={within.key}), dimension={dimension}, combiner={combiner!r}"
    return _noted(made, Contrib(key, f"{within.name}_embedding", combiner))


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> tuple[Any, ...]:
    """`embedding_column` for several features, over one table."""
    if not isinstance(sparse_id_columns, list | tuple) or not sparse_id_columns:
        raise WrongType(f"shared_embedding_columns: expected a list of columns, got {sparse_id_columns!r}.")
    made = tf.compat.v1.feature_column.shared_embedding_columns(
        list(sparse_id_columns),
        dimension,
        combiner,
        initializer or _usual(sparse_id_columns[0].num_buckets),
        shared_embedding_name,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
    for column, source in zip(made, sparse_id_columns, strict=True):
        within = contrib_of(source)
        key = f"_EmbeddingColumn(sparse_id_column={within.key}), dimension={dimension}, combiner={combiner!r}"
        _noted(column, Contrib(key, f"{within.name}_shared_embedding", combiner))
    return tuple(made)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Numbers by the range they fall in: `tf.feature_column.bucketized_column`."""
    limits = tuple(dict.fromkeys(boundaries))
    made = _columns.bucketized_column(source_column, limits)
    key = f"_BucketizedColumn(source_column={contrib_of(source_column).key}), boundaries={limits}"
    return _noted(made, Contrib(key, made.name))


def crossed_column(
    columns: Iterable[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """Combinations of the values of several columns, by their hash: `tf.feature_column.crossed_column`.

    Args:
        columns: sparse, bucketized and crossed columns.
        hash_bucket_size: how many ids there are.
        combiner: how the weights of several ids are combined in a linear model.
        ckpt_to_load_from, tensor_name_in_ckpt: not there.
        hash_key: for the hash; without one, it is that of `tf.contrib`, and not that of `tf.feature_column`.
    """
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise UsageError("crossed_column: ckpt_to_load_from is not there. Use tf.train.init_from_checkpoint.")
    ordered = sorted(columns, key=lambda column: contrib_of(column).name)
    # Words are combined as they are, and not by their ids.
    sources = [getattr(column, "key", column) if _is_sparse(column) else column for column in ordered]
    made = _columns.crossed_column(sources, hash_bucket_size, hash_key)
    if hash_key is None:
        made = with_old_hash(made)
    keys = ", ".join(f"{contrib_of(column).key})" for column in ordered)
    name = "_X_".join(sorted(contrib_of(column).name for column in ordered))
    key = f"_CrossedColumn(columns=({keys}), hash_bucket_size={hash_bucket_size}, hash_key={hash_key}"
    return _noted(made, Contrib(key, name, combiner))


def contrib_of(column: Any) -> Contrib:
    """What an old column said beyond the one of today; of a column of today, what is like it.

    Raises:
        WrongType: it is no column.
    """
    found = getattr(column, "contrib", None)
    if isinstance(found, Contrib):
        return found
    if not hasattr(column, "name") or not hasattr(column, "parents"):
        raise WrongType(f"expected a feature column of tf.contrib.layers or tf.feature_column, got {column!r}.")
    return Contrib(f"{type(column).__name__}(name={column.name!r}", column.name, getattr(column, "combiner", "sum"))


def _sparse(made: Any, kind: str, name: str, combiner: str, bucket_size: int | None) -> Any:
    whole = kind == "Integerized"
    key = f"_SparseColumn{kind}(column_name={name!r}, is_integerized={whole}, bucket_size={bucket_size}"
    return _noted(made, Contrib(key, name, combiner))


def _is_sparse(column: Any) -> bool:
    key = contrib_of(column).key
    return key.startswith("_SparseColumn") and not key.startswith("_SparseColumnIntegerized")


def _noted(column: Any, contrib: Contrib) -> Any:
    column.contrib = contrib
    return column


def _usual(number: int) -> Any:
    return tf.compat.v1.truncated_normal_initializer(mean=0.0, stddev=1.0 / math.sqrt(number))
