"""`tf.contrib.rnn`: the cells and functions that `tf.nn` lacks, with the variables and numbers of 1.15."""
