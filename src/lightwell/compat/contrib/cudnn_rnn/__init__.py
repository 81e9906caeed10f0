"""`tf.contrib.cudnn_rnn`: the weights of cuDNN's recurrent layers, in cells that run everywhere."""
