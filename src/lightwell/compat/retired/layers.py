"""Cells of `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import IN_SLIM

_PLAIN = f"!{IN_SLIM} Or use tf.compat.v1.layers"
_OTHER_VARIABLES = "its variables are called kernel and bias, not weights and biases."
# What contrib.layers had of feature columns, which tf_slim did not take along.
_OLD_COLUMNS = """
    bucketized_column check_feature_columns create_feature_spec_for_parsing crossed_column embedding_column
    infer_real_valued_columns input_from_feature_columns joint_weighted_sum_from_feature_columns
    make_place_holder_tensors_for_base_features one_hot_column parse_feature_columns_from_examples
    parse_feature_columns_from_sequence_examples real_valued_column scattered_embedding_column
    sequence_input_from_feature_columns shared_embedding_columns sparse_column_with_hash_bucket
    sparse_column_with_integerized_feature sparse_column_with_keys sparse_column_with_vocabulary_file
    transform_features weighted_sparse_column weighted_sum_from_feature_columns
"""
_USE_COLUMNS = "!Use tf.feature_column, and in model_fn tf.compat.v1.feature_column.input_layer or linear_model."

CELLS: Mapping[str, str] = dict.fromkeys(_OLD_COLUMNS.split(), _USE_COLUMNS) | {
    "batch_norm": f"{_PLAIN}.batch_normalization(x, momentum=0.999, epsilon=0.001, scale=False, name='BatchNorm').",
    "conv2d": f"{_PLAIN}.conv2d with activation=tf.nn.relu and padding='same'; {_OTHER_VARIABLES}",
    "dropout": f"{_PLAIN}.dropout: rate is 1 - keep_prob, training is is_training.",
    "embed_sequence": "!Use tf.compat.v1.get_variable and tf.nn.embedding_lookup.",
    "flatten": f"{_PLAIN}.flatten.",
    "fully_connected": f"{_PLAIN}.dense with activation=tf.nn.relu; {_OTHER_VARIABLES}",
    "l1_regularizer": "!Use tf.keras.regularizers.L1(scale).",
    "l2_regularizer": "!Use tf.keras.regularizers.L2(scale / 2): contrib halved the sum of squares.",
    "layer_norm": "lightwell.contrib.layers.layer_norm:layer_norm",
    "max_pool2d": f"{_PLAIN}.max_pooling2d.",
    "multi_class_target": "!In model_fn, compute the loss with tf.compat.v1.losses.",
    "optimize_loss": "!Use an optimizer of tf.compat.v1.train and its minimize().",
    "regression_target": "!In model_fn, compute the loss with tf.compat.v1.losses.",
    "safe_embedding_lookup_sparse": "tensorflow:nn.safe_embedding_lookup_sparse",
    "variance_scaling_initializer": "!Use tf.compat.v1.variance_scaling_initializer(scale=2.0).",
    "xavier_initializer": "!Use tf.compat.v1.glorot_uniform_initializer().",
    "": f"?tf_slim.layers {IN_SLIM}",
}
