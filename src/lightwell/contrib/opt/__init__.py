"""`tf.contrib.opt`: optimizers beside those of `tf.train`, with the slots and numbers of TensorFlow 1.15."""
