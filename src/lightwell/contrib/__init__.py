"""The parts of `tf.contrib` that programs use, written anew, with the variables and numbers of TensorFlow 1.15."""
