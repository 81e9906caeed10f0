"""Hooks by name."""
from __future__ import absolute_import, division, print_function

import tensorflow as tf  # pylint: disable=g-bad-import-order

_TENSORS_TO_LOG = dict((x, x) for x in ["learning_rate", "cross_entropy", "train_accuracy"])


class ExamplesPerSecondHook(tf.train.SessionRunHook):
  """Hook to print out examples per second."""

  def __init__(self, batch_size, every_n_steps=None, every_n_secs=None, warm_steps=0):
    if (every_n_steps is None) == (every_n_secs is None):
      raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
    self._timer = tf.train.SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
    self._batch_size, self._warm_steps = batch_size, warm_steps
    self.current_examples_per_sec_list = []

  def begin(self):
    self._global_step_tensor = tf.train.get_global_step()
    if self._global_step_tensor is None:
      raise RuntimeError("Global step should be created to use StepCounterHook.")

  def before_run(self, run_context):
    return tf.train.SessionRunArgs(self._global_step_tensor)

  def after_run(self, run_context, run_values):
    global_step = run_values.results
    if self._timer.should_trigger_for_step(global_step) and global_step > self._warm_steps:
      elapsed_time, elapsed_steps = self._timer.update_last_triggered_step(global_step)
      if elapsed_time is not None:
        self.current_examples_per_sec_list.append(self._batch_size * elapsed_steps)


def get_train_hooks(name_list, **kwargs):
  return [HOOKS[name.strip().lower()](**kwargs) for name in name_list]


def get_logging_tensor_hook(every_n_iter=100, tensors_to_log=None, **kwargs):
  if tensors_to_log is None:
    tensors_to_log = _TENSORS_TO_LOG
  return tf.train.LoggingTensorHook(tensors=tensors_to_log, every_n_iter=every_n_iter)


HOOKS = {"loggingtensorhook": get_logging_tensor_hook,
         "examplespersecondhook": lambda batch_size=8, **kwargs: ExamplesPerSecondHook(batch_size, every_n_steps=2),
         "profilerhook": lambda model_dir=None, **kwargs: tf.train.ProfilerHook(save_steps=100, output_dir=model_dir)}
