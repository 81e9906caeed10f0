"""What a `model_fn` is written with: layers, cells, feature columns, Keras layers, heads, optimizers, the spec."""
