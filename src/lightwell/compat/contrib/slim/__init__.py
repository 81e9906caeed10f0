"""`tf.contrib.slim`, by way of the package `tf_slim`."""
