"""`tf.contrib.opt`: optimizers that `tf.train` lacks, with the slots and numbers of TensorFlow 1.15."""
