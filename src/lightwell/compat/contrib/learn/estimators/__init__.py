"""`tf.contrib.learn.estimators`: Estimators with `fit`, `evaluate` and `predict` over arrays."""
