"""Shared flags, the way the official models define them."""
import functools

from absl import flags
import tensorflow as tf

DTYPE_MAP = {"fp16": (tf.float16, 128), "fp32": (tf.float32, 1)}
FLAGS = flags.FLAGS


def define_base(model_dir="/tmp"):
  key_flags = []
  flags.DEFINE_string(name="model_dir", short_name="md", default=model_dir, help="The location of the model checkpoint files.")
  flags.DEFINE_integer(name="train_epochs", short_name="te", default=2, help="The number of epochs used to train.")
  flags.DEFINE_enum(name="dtype", short_name="dt", default="fp32", enum_values=DTYPE_MAP.keys(), help="The TensorFlow datatype used for calculations.")
  flags.DEFINE_list(name="hooks", short_name="hk", default="LoggingTensorHook,ExamplesPerSecondHook", help="hooks")
  flags.DEFINE_integer(name="batch_size", short_name="bs", default=8, help="batch")

  @flags.multi_flags_validator(["batch_size", "train_epochs"], message="must be positive")
  def _check(values):
    return all(v > 0 for v in values.values())
  return key_flags


def get_tf_dtype(flags_obj):
  return DTYPE_MAP[flags_obj.dtype][0]


def get_loss_scale(flags_obj):
  return DTYPE_MAP[flags_obj.dtype][1]


def set_defaults(**kwargs):
  for key, value in kwargs.items():
    flags.FLAGS.set_default(name=key, value=value)
