"""Functions of `tf.contrib.mixed_precision`."""
