"""Custom estimators with heads (TensorFlow 2.7): BinaryClassHead, MultiHead, RegressionHead with a weight column."""
import json

import numpy as np
import tensorflow as tf

random = np.random.RandomState(4)
X = random.uniform(-1, 1, (48, 3)).astype('float32')
CLICK = (X.sum(1) > 0).astype('int64').reshape(-1, 1)
SPEND = (X[:, :1] * 2 + 1).astype('float32')


def input_fn():
    features = {'x': X, 'weight': np.abs(X[:, 1:2]) + 0.5}
    return tf.data.Dataset.from_tensor_slices((features, {'click': CLICK, 'spend': SPEND})).batch(12).repeat(4)


def one_label(name):
    return lambda: input_fn().map(lambda f, l: (f, l[name]))


def body(features, units):
    net = tf.compat.v1.layers.dense(features['x'], 6, tf.nn.tanh, kernel_initializer=tf.compat.v1.glorot_uniform_initializer(seed=1))
    return tf.compat.v1.layers.dense(net, units, kernel_initializer=tf.compat.v1.glorot_uniform_initializer(seed=2))


def make(head, units):
    def model_fn(features, labels, mode):
        optimizer = tf.compat.v1.train.AdamOptimizer(0.05)
        logits = body(features, units)
        if isinstance(head, tf.estimator.MultiHead):
            logits = {'click': logits[:, :1], 'spend': logits[:, 1:]}
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, logits=logits,
            trainable_variables=tf.compat.v1.trainable_variables(),
            train_op_fn=lambda loss: optimizer.minimize(loss, global_step=tf.compat.v1.train.get_global_step()))
    return tf.estimator.Estimator(model_fn)


click = tf.estimator.BinaryClassHead(weight_column='weight', thresholds=[0.3, 0.7], name='click')
spend = tf.estimator.RegressionHead(weight_column='weight', name='spend')
out = {}
for name, head, units, fn in (('click', click, 1, one_label('click')), ('spend', spend, 1, one_label('spend')),
                              ('both', tf.estimator.MultiHead([click, spend], [1.0, 0.5]), 2, input_fn)):
    estimator = make(head, units)
    estimator.train(fn)
    row = next(estimator.predict(fn))
    out[name] = {
        'eval': {k: float(v) for k, v in estimator.evaluate(fn, steps=4).items()},
        'row': {str(k): np.asarray(v, dtype=str if np.asarray(v).dtype == object else None).tolist() for k, v in row.items()
                if np.asarray(v).dtype.kind == 'f'}}
print(json.dumps(out))
