"""A SavedModel opened again as an Estimator."""
