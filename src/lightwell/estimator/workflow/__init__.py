"""A model over time: training, evaluation and export in turn."""
