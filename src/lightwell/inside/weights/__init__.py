"""The weights of a model: read from checkpoints, changed at rest, left alone by a training."""
