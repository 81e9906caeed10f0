"""`tf.contrib.seq2seq`: losses of sequences, and decoding step by step."""
