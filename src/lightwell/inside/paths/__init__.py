"""Every value of a model has a path, and a path can be read wherever the model runs."""
