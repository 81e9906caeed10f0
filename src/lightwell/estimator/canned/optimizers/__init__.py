"""Optimizers of canned models: by name, by object, by function."""
