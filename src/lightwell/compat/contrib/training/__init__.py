"""`tf.contrib.training`: hyperparameters, train operations, checkpoints that appear over time."""
