"""The private doors of TensorFlow and Keras: each with its reason, a probe, and what is lost without it."""
