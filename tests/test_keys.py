"""The words that programs, checkpoints and servers depend on."""

from __future__ import annotations

from lightwell import keys


def test_modes_are_the_strings_of_tf_estimator() -> None:
    assert (keys.ModeKeys.TRAIN, keys.ModeKeys.EVAL, keys.ModeKeys.PREDICT) == ("train", "eval", "infer")


def test_names_on_disk() -> None:
    assert keys.CHECKPOINT_PREFIX == "model.ckpt"
    assert keys.GLOBAL_STEP == "global_step"
    assert keys.LOSS == "loss"
    assert keys.DEFAULT_SERVING_SIGNATURE == "serving_default"
