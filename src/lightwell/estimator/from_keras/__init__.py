"""Estimators made of Keras models: `model_to_estimator`."""
