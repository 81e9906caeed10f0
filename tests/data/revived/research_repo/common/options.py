"""A module that knows nothing of TensorFlow, and one that it is imported with in a circle."""

import models.registry


def defaults():
    return dict(models.registry.DEFAULTS, layers=2)
