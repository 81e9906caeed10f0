"""The parts of `tf.contrib` that programs use, as new code, with the variables and numbers of TensorFlow 1.15."""
