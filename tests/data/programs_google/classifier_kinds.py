"""Premade classifiers side by side: baselines, multi-label, label vocabularies, n_classes (TensorFlow 1.15)."""
import json

import numpy as np
import tensorflow as tf

random = np.random.RandomState(6)
X = random.uniform(-1, 1, (60, 2)).astype(np.float32)
KIND = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
NAMES = np.array(['low', 'mid', 'high'])[KIND]


def input_fn(labels, epochs=1):
    def fn():
        return tf.data.Dataset.from_tensor_slices(({'x': X, 'bucket': NAMES}, labels)).batch(15).repeat(epochs)
    return fn


x = tf.feature_column.numeric_column('x', shape=[2])
sparse = tf.feature_column.categorical_column_with_hash_bucket('bucket', 7)
out = {}


def check(name, estimator, labels):
    estimator.train(input_fn(labels, 4))
    row = next(estimator.predict(input_fn(labels)))
    out[name] = {
        'eval': {k: float(v) for k, v in estimator.evaluate(input_fn(labels)).items()},
        'row': {k: [i.decode() if isinstance(i, bytes) else float(i) for i in np.ravel(v)] for k, v in sorted(row.items())}}


check('three', tf.estimator.LinearClassifier([x, sparse], n_classes=3), KIND)
check('named', tf.estimator.LinearClassifier([x], n_classes=3, label_vocabulary=['low', 'mid', 'high'], optimizer='Adam'), NAMES)
check('baseline', tf.estimator.BaselineClassifier(n_classes=3, optimizer='SGD'), KIND)
check('poisson', tf.estimator.LinearEstimator(head=tf.contrib.estimator.poisson_regression_head(), feature_columns=[x], optimizer=tf.train.FtrlOptimizer(.1)), KIND.astype(np.float32))
multi = np.stack([KIND > 0, KIND > 1], 1).astype(np.int64)
head = tf.contrib.estimator.multi_label_head(n_classes=2, thresholds=[0.4], loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
check('multi', tf.estimator.LinearEstimator(head=head, feature_columns=[x]), multi)


def build_logits(features, mode):
    del mode
    return tf.layers.dense(tf.feature_column.input_layer(features, [x]), 3, kernel_initializer=tf.zeros_initializer())


def own(features, labels, mode):
    own_head = tf.contrib.estimator.multi_class_head(3, label_vocabulary=['low', 'mid', 'high'])
    return own_head.create_estimator_spec(features, mode, build_logits(features, mode), labels, optimizer=tf.train.AdamOptimizer(.1))


check('own', tf.estimator.Estimator(own), NAMES[:, None])
print(json.dumps(out))
