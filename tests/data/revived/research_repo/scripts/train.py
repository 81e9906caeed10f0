#!/usr/bin/env python
"""A script two folders down that puts its repository's root on the path, as research code does."""

import importlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from models import registry

import numpy as np
import tensorflow as tf


def main(argv):
    tf.logging.set_verbosity(tf.logging.ERROR)
    importlib.import_module("models." + argv[1])
    config, params = registry.options()
    x = np.random.RandomState(0).randn(20, 3).astype(np.float32)
    input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, x.sum(1, keepdims=True), 10, 3, shuffle=False)
    estimator = tf.estimator.Estimator(registry.get(argv[1]), argv[2], config, params)
    estimator.train(input_fn)
    print(json.dumps({k: float(v) for k, v in estimator.evaluate(input_fn).items()}))


if __name__ == "__main__":
    tf.app.run()
