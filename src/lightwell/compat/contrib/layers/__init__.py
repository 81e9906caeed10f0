"""Functions of `tf.contrib.layers`."""
