"""Words to vectors: `embed_sequence` and `bow_encoder` of `tf.contrib.layers`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.layers.embeddings import embedding_lookup_unique, safe_embedding_lookup_sparse
from lightwell.compat.contrib.layers.making import making
from lightwell.errors import UsageError, WrongType


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """A vector for each id: `[batch, length]` to `[batch, length, embed_dim]`.

    Args:
        ids: whole numbers.
        vocab_size: how many ids there are; needed unless variables are reused.
        embed_dim: the size of a vector; needed unless variables are reused.
        unique: look each id up once; faster where they repeat.
        initializer, regularizer, trainable: for the variable `embeddings`.
        scope: the variable scope; if None, a unique scope called `EmbedSequence`.
        reuse: whether to reuse the scope's variable.

    Raises:
        UsageError: a size is missing.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise UsageError(
            f"embed_sequence: Must specify vocab size and embedding dimension when not reusing. Got "
            f"vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with making("embed_sequence", ids, scope, "EmbedSequence", reuse=reuse, trainable=trainable) as one:
        shape = [vocab_size, embed_dim] if vocab_size and embed_dim else None
        table = one.variable("embeddings", shape, tf.float32, initializer, regularizer)
        if unique:
            return one.finished(embedding_lookup_unique(table, one.inputs))
        return one.finished(tf.nn.embedding_lookup(table, one.inputs))


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The mean of the vectors of all ids of an example: `[batch, length]` to `[batch, embed_dim]`.

    Args:
        ids: whole numbers, dense or sparse; 0 counts for padding in dense ones, with `sparse_lookup`.
        vocab_size: how many ids there are.
        embed_dim: the size of a vector.
        sparse_lookup: whether dense ids are looked up as sparse ones.
        initializer, regularizer, trainable: for the variable `embeddings`.
        scope: the variable scope; if None, a unique scope called `bow_encoder`.
        reuse: whether to reuse the scope's variable.

    Raises:
        WrongType: sparse ids without `sparse_lookup`.
    """
    with making("bow_encoder", ids, scope, "bow_encoder", reuse=reuse, trainable=trainable) as one:
        table = one.variable("embeddings", [vocab_size, embed_dim], tf.float32, initializer, regularizer)
        return one.finished(_bag(table, one.inputs, sparse_lookup))


def _bag(table: Any, ids: Any, sparse_lookup: bool) -> Any:
    if sparse_lookup:
        sparse = ids if isinstance(ids, tf.SparseTensor) else tf.sparse.from_dense(tf.convert_to_tensor(ids))
        return safe_embedding_lookup_sparse([table], sparse, combiner="mean", default_id=0)
    if isinstance(ids, tf.SparseTensor):
        raise WrongType("bow_encoder: ids are expected to be dense Tensor, got SparseTensor; give sparse_lookup=True.")
    return tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
