"""Export: a model on its way to where it is served."""
