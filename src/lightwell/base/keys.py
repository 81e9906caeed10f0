"""Shared constants: exact strings that programs, checkpoints and TensorBoard depend on. Imports nothing."""

from __future__ import annotations


class ModeKeys:
    """The three modes in which `model_fn` and `input_fn` are called.

    * `TRAIN`: training.
    * `EVAL`: evaluation.
    * `PREDICT`: prediction, and export for serving.
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


LOSS = "loss"
AVERAGE_LOSS = "average_loss"
GLOBAL_STEP = "global_step"

# The default signature of servers, and the ones that a head adds.
DEFAULT_SERVING_SIGNATURE = "serving_default"
CLASSIFY_SERVING_KEY = "classification"
PREDICT_SERVING_KEY = "predict"
REGRESS_SERVING_KEY = "regression"

# Files of a model_dir: the prefix of checkpoints, and the state file that names the newest.
CHECKPOINT_PREFIX = "model.ckpt"
CHECKPOINT_STATE = "checkpoint"
# A folder with either file is a SavedModel.
SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")

# Scopes of a graph. Ops that Lightwell adds, which are no part of the model, are below OWN_SCOPE.
OWN_SCOPE = "lightwell/"
FUSED_SCOPE = f"{OWN_SCOPE}fused/"
# Variables of a Keras optimizer that belong to no single variable of the model.
OPTIMIZER_SCOPE = "optimizer/"
# Optimizer state of canned models; `training_2/` for a MultiHead of two heads.
TRAINING_SCOPE = "training"
TRAINING_SCOPES = rf"{TRAINING_SCOPE}(_\d+)?"  # pattern that matches all of them

# Graph collections: learning rates in use, and the read of the global step that TensorFlow's hooks look up.
LEARNING_RATE_COLLECTION = f"{OWN_SCOPE}learning_rate"
GLOBAL_STEP_READ_COLLECTION = "global_step_read_op_cache"


class MetricKeys:
    """Names of the metrics that heads compute; some take a threshold, a class or a name."""

    ACCURACY = "accuracy"
    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g"
    ACCURACY_BASELINE = "accuracy_baseline"
    AUC = "auc"
    AUC_AT_CLASS = "auc/class%d"
    AUC_AT_NAME = "auc/%s"
    AUC_PR = "auc_precision_recall"
    AUC_PR_AT_CLASS = "auc_precision_recall/class%d"
    AUC_PR_AT_NAME = "auc_precision_recall/%s"
    LABEL_MEAN = "label/mean"
    LOSS = "loss"
    LOSS_MEAN = "average_loss"
    LOSS_REGULARIZATION = "regularization_loss"
    PRECISION = "precision"
    PRECISION_AT_RECALL = "precision_at_recall_%g"
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g"
    PREDICTION_MEAN = "prediction/mean"
    PROBABILITY_MEAN_AT_CLASS = "probability_mean/class%d"
    PROBABILITY_MEAN_AT_NAME = "probability_mean/%s"
    RECALL = "recall"
    RECALL_AT_PRECISION = "recall_at_precision_%g"
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g"
    SENSITIVITY_AT_SPECIFICITY = "sensitivity_at_specificity_%g"
    SPECIFICITY_AT_SENSITIVITY = "specificity_at_sensitivity_%g"


class PredictionKeys:
    """Names of the predictions that heads make."""

    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"


# Ops that take the handle of a variable: these read its value, or use the handle only; any other may change the value.
VALUE_READ_OPS = frozenset(["ReadVariableOp", "ResourceGather", "ResourceGatherNd"])
HANDLE_ONLY_OPS = frozenset(["VariableShape", "VarIsInitializedOp", "DestroyResourceOp"])
