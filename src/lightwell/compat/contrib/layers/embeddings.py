"""Lookups of embeddings of `tf.contrib.layers`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None) -> Any:
    """`tf.nn.embedding_lookup`, but each id is looked up once, however often it comes.

    Args:
        params: the table, or a list of its pieces.
        ids: whole numbers of any shape.
        partition_strategy: `mod` or `div`: in which piece a row stands.
        name: of the operation.
    """
    with tf.compat.v1.name_scope(name, "EmbeddingLookupUnique", [ids]):
        wanted = tf.convert_to_tensor(ids)
        rows, places = tf.unique(tf.reshape(wanted, [-1]))
        vectors = tf.compat.v1.nn.embedding_lookup(params, rows, partition_strategy)
        found = tf.gather(vectors, places)
        shape = tf.concat([tf.shape(wanted), tf.shape(vectors)[1:]], 0)
        outputs = tf.reshape(found, shape)
        outputs.set_shape(wanted.shape.concatenate(vectors.shape[1:]))
        return outputs


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """Embeddings of the ids of each example, combined; examples without an id get the vector of `default_id`, or zeros.

    Args:
        embedding_weights: the table, or a list of its pieces.
        sparse_ids: a sparse tensor of ids; negative ones are left out.
        sparse_weights: a sparse tensor of weights for them; ids of weight zero or less are left out.
        combiner: `mean`, `sqrtn` or `sum`; `mean` if None.
        default_id: whose vector stands for an example without ids; zeros if None.
        name: of the operation.
        partition_strategy: `div` or `mod`: in which piece a row stands.
        max_norm: vectors that are longer are cut to this length.
    """
    return tf.compat.v1.nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights=sparse_weights,
        combiner=combiner or "mean",
        default_id=default_id,
        name=name,
        partition_strategy=partition_strategy,
        max_norm=max_norm,
    )
