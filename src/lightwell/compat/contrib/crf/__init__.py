"""`tf.contrib.crf`: a linear chain over the tags of a sequence."""
