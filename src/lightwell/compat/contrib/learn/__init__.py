"""`tf.contrib.learn`: Estimators with `fit` over arrays, monitors, experiments, text, small data sets."""
