"""The words of the API: exact strings that programs, checkpoints and TensorBoard depend on. Imports nothing."""

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

# The signature that servers use when none is named, and those that a head adds.
DEFAULT_SERVING_SIGNATURE = "serving_default"
CLASSIFY_SERVING_KEY = "classification"
PREDICT_SERVING_KEY = "predict"
REGRESS_SERVING_KEY = "regression"

# Files of a model_dir: checkpoints, and the one that says which is the newest.
CHECKPOINT_PREFIX = "model.ckpt"
CHECKPOINT_STATE = "checkpoint"
# Either of which makes a folder a SavedModel.
SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")

# Scopes of a graph: what Lightwell adds to it is no part of the model and stands below the first one.
OWN_SCOPE = "lightwell/"
FUSED_SCOPE = f"{OWN_SCOPE}fused/"
# Variables of a Keras optimizer that serve no single variable of the model.
OPTIMIZER_SCOPE = "optimizer/"
# State of the optimizers of canned models; `training_2/` where a head of two heads trains.
TRAINING_SCOPE = "training"
TRAINING_SCOPES = rf"{TRAINING_SCOPE}(_\d+)?"  # all of them, as a pattern

# Graph collections: learning rates in use, and the read of the step counter that TensorFlow's hooks look for.
LEARNING_RATES = f"{OWN_SCOPE}learning_rate"
GLOBAL_STEP_READS = "global_step_read_op_cache"


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


# What an op does with a variable whose handle it takes: these read its value, those make no use of it; all else may
# change it.
READS_VALUE = frozenset(["ReadVariableOp", "ResourceGather", "ResourceGatherNd"])
NO_USE_OF_VALUE = frozenset(["VariableShape", "VarIsInitializedOp", "DestroyResourceOp"])
