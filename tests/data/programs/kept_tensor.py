"""TensorFlow 1 spelling: a subclass of Estimator that would keep a tensor of the model in `self`."""

import json

import tensorflow as tf

try:

    class KeepingEstimator(tf.estimator.Estimator):
        def _call_model_fn(self, features, labels, mode, config):
            spec = super(KeepingEstimator, self)._call_model_fn(features, labels, mode, config)
            self.dense = tf.get_collection("dense")[0]
            return spec

except Exception as error:
    told = [type(error).__name__, isinstance(error, ValueError), str(error)]
else:
    told = None

print(json.dumps({"eager": tf.executing_eagerly(), "told": told}))
tf.logging.info("done")
