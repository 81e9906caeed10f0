"""A Keras 3 model with an Estimator's weights, whose outputs are those of `predict`."""
