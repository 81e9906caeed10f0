"""`tf.contrib.learn`: experiments, text, small data sets; its own Estimators became `tf.estimator`."""
