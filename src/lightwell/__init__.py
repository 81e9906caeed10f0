"""Lightwell: the Estimator, alive on today's TensorFlow, with daylight in the middle."""
