"""Files of the cloud template: the model."""

from __future__ import division

import tensorflow as tf

from . import featurizer


def build_estimator(config, learning_rate):
    return tf.estimator.LinearClassifier(
        config=config, feature_columns=featurizer.buckets(), optimizer=tf.train.FtrlOptimizer(learning_rate)
    )
