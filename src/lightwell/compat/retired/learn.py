"""Cells of `tf.contrib.learn`."""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "lightwell.compat.contrib.learn"
# Module of `lightwell.compat.contrib.learn` -> what it has, under its own name.
_WRITTEN = {
    "estimators.base": "BaseEstimator Estimator NotFittedError",
    "estimators.constants": "PredictionKey ProblemType",
    "estimators.dnn": "DNNClassifier DNNEstimator DNNRegressor",
    "estimators.dnn_linear_combined": """
        DNNLinearCombinedClassifier DNNLinearCombinedEstimator DNNLinearCombinedRegressor
    """,
    "estimators.kmeans": "KMeansClustering",
    "estimators.linear": "LinearClassifier LinearEstimator LinearRegressor",
    "estimators.logistic_regressor": "LogisticRegressor",
    "estimators.model_fn_ops": "ModelFnOps",
    "experiment": "Experiment",
    "export_strategy": "ExportStrategy make_export_strategy",
    "heads": """
        Head binary_svm_head multi_class_head multi_head multi_label_head no_op_train_fn poisson_regression_head
        regression_head
    """,
    "input_fn_utils": "InputFnOps build_default_serving_input_fn build_parsing_serving_input_fn",
    "metric_spec": "MetricSpec",
    "pandas_io": "extract_pandas_data extract_pandas_labels extract_pandas_matrix",
    "run_config": "RunConfig",
    "sk_compat": "SKCompat",
}
_MODULES = "datasets input_fn_utils learn_runner monitors preprocessing utils"
_QUEUES = """
    queue_parsed_features read_batch_examples read_batch_features read_batch_record_features read_keyed_batch_examples
    read_keyed_batch_examples_shared_queue read_keyed_batch_features read_keyed_batch_features_shared_queue
"""
_BY_HAND = "!Use Estimator, or tf.compat.v1.train.MonitoredTrainingSession around a loop of your own."
_ABSTRACT = "!Derive from learn.BaseEstimator, or ask whether an object has fit and evaluate."
_EXPORTER = "!Use export_savedmodel(export_dir_base, serving_input_fn): nothing reads a SessionBundle any more."
CELLS: Mapping[str, str] = (
    {name: f"{_HERE}.{file}:{name}" for file, names in _WRITTEN.items() for name in names.split()}
    | {name: f"{_HERE}.{name}" for name in _MODULES.split()}
    | dict.fromkeys(_QUEUES.split(), "!Use tf.data.experimental.make_batched_features_dataset.")
    | dict.fromkeys(("evaluate", "graph_actions", "infer", "run_feeds", "run_n", "train"), _BY_HAND)
    | dict.fromkeys(("Evaluable", "Trainable"), _ABSTRACT)
    | dict.fromkeys(("extract_dask_data", "extract_dask_labels"), "!Call compute() on the Dask object first.")
    | dict.fromkeys(("export", "export_estimator"), _EXPORTER)
    | {
        "": "!Use tf.estimator.Estimator with a model_fn.",
        "DynamicRnnEstimator": "!Use tf.estimator.experimental.RNNEstimator or RNNClassifier, with sequence columns.",
        "ModeKeys": "lightwell.compat.learn:ModeKeys",
        "NanLossDuringTrainingError": "tensorflow:compat.v1.train.NanLossDuringTrainingError",
        "SVM": "!Use learn.LinearEstimator with head=learn.binary_svm_head(), or tf.estimator.experimental.LinearSDCA.",
        "TaskType": "lightwell.compat.small:TaskType",
        "head": f"{_HERE}.heads",
        "infer_real_valued_columns_from_input": f"{_HERE}.estimators.array_inputs:feature_columns_of",
        "infer_real_valued_columns_from_input_fn": f"{_HERE}.estimators.array_inputs:feature_columns_of_input_fn",
        "io": "lightwell.compat.learn",
        "models": "!Write the layers in model_fn with tf.compat.v1.layers, cells with tf.compat.v1.nn.rnn_cell.",
        "numpy_input_fn": "lightwell.compat.learn:numpy_input_fn",
        "ops": "!Write the layers in model_fn with tf.compat.v1.layers.",
        "pandas_input_fn": "lightwell.compat.learn:pandas_input_fn",
        "saved_model_export_utils": f"{_HERE}.utils.saved_model_export_utils",
    }
)
