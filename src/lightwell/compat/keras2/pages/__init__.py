"""Modules of `tf.keras` that Keras 3 dropped, under the names that programs import."""
