"""`tf.contrib.rnn`: the cells and functions beside those of `tf.nn`, with the variables and numbers of 1.15."""
