"""Functions of `tf.contrib.metrics`."""
