"""Functions of `tf.contrib.losses`."""
