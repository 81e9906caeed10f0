"""Functions of `tf.contrib.framework`."""
