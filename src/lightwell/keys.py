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
GLOBAL_STEP = "global_step"

# The signature that servers use when none is named.
DEFAULT_SERVING_SIGNATURE = "serving_default"

CHECKPOINT_PREFIX = "model.ckpt"
