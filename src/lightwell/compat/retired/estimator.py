"""Cells of `tf.contrib.estimator`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import V1

_STOPPING = (
    "InMemoryEvaluatorHook",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
)
_LOGIT_FNS = ("call_logit_fn", "dnn_logit_fn_builder", "linear_logit_fn_builder")
_HEADS = (
    "binary_classification_head",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
)
_OTHER_RNN = (
    "!Use tf.estimator.experimental.{}, with units for num_units; its cells are those of Keras, and its variables have "
    "other names."
)
_OURS = """
    TowerOptimizer clip_gradients_by_norm export_all_saved_models export_saved_model_for_mode replicate_model_fn
"""
_WITH_HEADS = ("BaselineEstimator", "DNNEstimator", "DNNLinearCombinedEstimator", "LinearEstimator")

CELLS: Mapping[str, str] = (
    {name: f"{V1}.experimental:{name}" for name in _STOPPING + _LOGIT_FNS}
    | {name: f"lightwell.compat.contrib.estimator:{name}" for name in _OURS.split()}
    | {name: f"{V1}:{name}" for name in _WITH_HEADS}
    | {name: f"lightwell.compat.contrib.heads:{name}" for name in _HEADS}
    | {name: _OTHER_RNN.format(name) for name in ("RNNClassifier", "RNNEstimator")}
    | {
        f"boosted_trees_{task}_train_in_memory": (
            f"lightwell.compat.contrib.boosted_trees:boosted_trees_{task}_train_in_memory"
        )
        for task in ("classifier", "regressor")
    }
    | {
        "add_metrics": f"{V1}:add_metrics",
        "SavedModelEstimator": "lightwell.estimator.reopened.core:SavedModelEstimator",
        "build_raw_supervised_input_receiver_fn": f"{V1}.experimental:build_raw_supervised_input_receiver_fn",
        "forward_features": "lightwell.estimator.canned.forward_features:forward_features",
    }
)
