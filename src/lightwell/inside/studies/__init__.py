"""A model over its checkpoints."""
