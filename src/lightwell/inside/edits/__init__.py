"""Edits: changes of values on their way through a model, from outside of `model_fn`."""
