"""Keras objects inside a `model_fn`: see `keras_scope.keras_in_model_fn`."""
