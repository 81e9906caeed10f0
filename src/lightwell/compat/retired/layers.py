"""Cells of `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import IN_SLIM

_HERE = "lightwell.compat.contrib.layers"
# Module of `lightwell.compat.contrib.layers` -> what it has, under its own name.
_WRITTEN = {
    "batch_norm": "batch_norm",
    "conv": "convolution convolution1d convolution2d convolution3d",
    "conv_parts": "convolution2d_transpose separable_convolution2d",
    "embeddings": "embedding_lookup_unique safe_embedding_lookup_sparse",
    "encoders": "bow_encoder embed_sequence",
    "fully_connected": "elu fully_connected linear relu relu6",
    "initializers": "variance_scaling_initializer xavier_initializer xavier_initializer_conv2d",
    "layer_norm": "layer_norm",
    "optimize_loss": "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss",
    "pooling": "avg_pool2d avg_pool3d max_pool2d max_pool3d",
    "regularizers": "apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer",
    "small": "bias_add dropout flatten maxout one_hot_encoding repeat softmax stack unit_norm",
}
# Short names.
_ALIASES = {
    "conv1d": "conv:convolution1d",
    "conv2d": "conv:convolution2d",
    "conv3d": "conv:convolution3d",
    "conv2d_transpose": "conv_parts:convolution2d_transpose",
    "separable_conv2d": "conv_parts:separable_convolution2d",
}
# The old feature columns, which tf_slim did not take along.
_COLUMNS = {
    "columns": """
        bucketized_column crossed_column embedding_column one_hot_column real_valued_column shared_embedding_columns
        sparse_column_with_hash_bucket sparse_column_with_integerized_feature sparse_column_with_keys
        sparse_column_with_vocabulary_file weighted_sparse_column SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    """,
    "column_inputs": """
        check_feature_columns input_from_feature_columns joint_weighted_sum_from_feature_columns transform_features
        weighted_sum_from_feature_columns
    """,
    "column_parsing": """
        create_feature_spec_for_parsing infer_real_valued_columns make_place_holder_tensors_for_base_features
        parse_feature_columns_from_examples
    """,
}
_SEQUENCES = "!Use the sequence columns of tf.feature_column; tf.io.parse_sequence_example reads their examples."


def _targets(modules: Mapping[str, str]) -> dict[str, str]:
    return {name: f"{_HERE}.{module}:{name}" for module, names in modules.items() for name in names.split()}


WRITTEN: dict[str, str] = _targets(_WRITTEN) | {name: f"{_HERE}.{target}" for name, target in _ALIASES.items()}
COLUMNS: dict[str, str] = _targets(_COLUMNS) | {
    "feature_column": f"{_HERE}.columns",  # the module, which the namespace had too
    "parse_feature_columns_from_sequence_examples": _SEQUENCES,
    "scattered_embedding_column": "!Use tf.feature_column.embedding_column over categorical_column_with_hash_bucket.",
    "sequence_input_from_feature_columns": _SEQUENCES,
}

CELLS: Mapping[str, str] = (
    COLUMNS
    | WRITTEN
    | {
        "multi_class_target": "!In model_fn, compute the loss with tf.compat.v1.losses.",
        "regression_target": "!In model_fn, compute the loss with tf.compat.v1.losses.",
        "": f"?tf_slim.layers {IN_SLIM}",
    }
)
