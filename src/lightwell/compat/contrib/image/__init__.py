"""Functions of `tf.contrib.image`."""
