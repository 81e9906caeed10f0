"""Cells of `tf.contrib.learn`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import V1

_HERE = "lightwell.compat.contrib.learn"
_ESTIMATORS = """
    BaseEstimator DNNClassifier DNNEstimator DNNLinearCombinedClassifier DNNLinearCombinedEstimator
    DNNLinearCombinedRegressor DNNRegressor Estimator LinearClassifier LinearEstimator LinearRegressor
"""
_HEADS = "binary_svm_head multi_class_head multi_head multi_label_head poisson_regression_head regression_head"
_QUEUES = """
    read_batch_examples read_batch_features read_batch_record_features read_keyed_batch_examples
    read_keyed_batch_examples_shared_queue read_keyed_batch_features read_keyed_batch_features_shared_queue
"""
CELLS: Mapping[str, str] = (
    {
        name: f"!Use tf.estimator.{name.replace('Base', '')}: train for fit, feature columns of tf.feature_column."
        for name in _ESTIMATORS.split()
    }
    | dict.fromkeys(_HEADS.split(), "!Use a canned Estimator, or compute the loss in model_fn.")
    | dict.fromkeys(_QUEUES.split(), "!Use tf.data.experimental.make_batched_features_dataset.")
    | {
        "": "!Use tf.estimator.Estimator with a model_fn.",
        "Experiment": f"{_HERE}.experiment:Experiment",
        "ExportStrategy": f"{_HERE}.export_strategy:ExportStrategy",
        "InputFnOps": f"{_HERE}.input_fn_utils:InputFnOps",
        "KMeansClustering": f"{V1}.experimental:KMeans",
        "MetricSpec": f"{_HERE}.metric_spec:MetricSpec",
        "ModeKeys": "lightwell.compat.learn:ModeKeys",
        "ModelFnOps": "!Return a tf.estimator.EstimatorSpec from model_fn.",
        "RunConfig": f"{_HERE}.run_config:RunConfig",
        "SKCompat": f"{_HERE}.sk_compat:SKCompat",
        "build_default_serving_input_fn": f"{_HERE}.input_fn_utils:build_default_serving_input_fn",
        "build_parsing_serving_input_fn": f"{_HERE}.input_fn_utils:build_parsing_serving_input_fn",
        "datasets": f"{_HERE}.datasets",
        "input_fn_utils": f"{_HERE}.input_fn_utils",
        "io": "lightwell.compat.learn",
        "learn_runner": f"{_HERE}.learn_runner",
        "make_export_strategy": f"{_HERE}.export_strategy:make_export_strategy",
        "monitors": "!Use hooks of tf.train, and tf.estimator.train_and_evaluate for a ValidationMonitor.",
        "numpy_input_fn": "lightwell.compat.learn:numpy_input_fn",
        "pandas_input_fn": "lightwell.compat.learn:pandas_input_fn",
        "preprocessing": f"{_HERE}.preprocessing",
    }
)
