"""Cells of `tf.contrib.framework`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import IN_SLIM, TRAIN

_HERE = "lightwell.compat.contrib.framework"
# Module of `lightwell.compat.contrib.framework` -> what it has, under its own name.
_WRITTEN = {
    "arg_scope": "add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments current_arg_scope has_arg_scope",
    "model_variables": """
        filter_variables get_local_variables get_model_variables get_trainable_variables get_unique_variable
        get_variable_full_name get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore
    """,
    "restoring": "assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn",
    "small": """
        assert_global_step assert_or_get_global_step assert_scalar_int deprecated deprecated_arg_values deprecated_args
        get_graph_from_inputs get_name_scope get_placeholders prepend_name_scope py_func reduce_sum_n
        remove_squeezable_dimensions smart_case smart_cond smart_constant_value strip_name_scope with_same_shape
        with_shape zero_initializer
    """,
    "variables": "add_model_variable global_variable local_variable model_variable variable",
}
_ORTHOGONAL = "!Use tf.compat.v1.orthogonal_initializer, or tf.keras.initializers.Orthogonal."
_REMAPPED = "!Use tf.estimator.WarmStartSettings with tf.estimator.VocabInfo, which maps rows by vocabulary."

WRITTEN: dict[str, str] = {
    name: f"{_HERE}.{module}:{name}" for module, names in _WRITTEN.items() for name in names.split()
} | {
    "create_global_step": f"{TRAIN}.create_global_step",
    "get_global_step": f"{TRAIN}.get_global_step",
    "get_or_create_global_step": f"{TRAIN}.get_or_create_global_step",
}

CELLS: Mapping[str, str] = WRITTEN | {
    "": f"?tf_slim {IN_SLIM}",
    "BoundedTensorSpec": "!Use tf.TensorSpec.",
    "RecordInput": "!Use tf.data.TFRecordDataset.",
    "TensorSpec": "tensorflow:TensorSpec",
    "argsort": "tensorflow:argsort",
    "assert_same_float_dtype": "tensorflow:debugging.assert_same_float_dtype",
    "assert_scalar": "tensorflow:compat.v1.debugging.assert_scalar",
    "convert_to_tensor_or_sparse_tensor": "tensorflow:compat.v1.convert_to_tensor_or_sparse_tensor",
    "convolutional_delta_orthogonal": _ORTHOGONAL,
    "convolutional_orthogonal_1d": _ORTHOGONAL,
    "convolutional_orthogonal_2d": _ORTHOGONAL,
    "convolutional_orthogonal_3d": _ORTHOGONAL,
    "fuse_op": "!Use tf.function(jit_compile=True).",
    "init_from_checkpoint": f"{TRAIN}.init_from_checkpoint",
    "is_tensor": "tensorflow:is_tensor",
    "list_variables": "tensorflow:train.list_variables",
    "load_and_remap_matrix_initializer": _REMAPPED,
    "load_checkpoint": "tensorflow:train.load_checkpoint",
    "load_embedding_initializer": _REMAPPED,
    "load_linear_multiclass_bias_initializer": _REMAPPED,
    "load_variable": "tensorflow:train.load_variable",
    "load_variable_slot_initializer": _REMAPPED,
    "nest": f"{_HERE}.nest",
    "sort": "tensorflow:sort",
}
