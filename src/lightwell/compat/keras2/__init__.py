"""Keras 2 on Keras 3: names, arguments and methods of `tf.keras` before TensorFlow 2.16, while the doors are open."""
