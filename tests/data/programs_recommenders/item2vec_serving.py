# -*- coding: utf-8 -*-
"""item 向量与 serving (TensorFlow 2.3): 导出后用 tf.saved_model.load 推断, tf.io.parse_example"""
import glob, json, os
import numpy as np
import tensorflow as tf

tf.random.set_seed(7)
rng = np.random.RandomState(7)
PAIRS = np.stack([rng.randint(0, 10, 60), rng.randint(0, 10, 60)], 1)
LABELS = (np.abs(PAIRS[:, 0] - PAIRS[:, 1]) < 3).astype('float32')
SPEC = {'pair': tf.io.FixedLenFeature([2], tf.int64)}


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensor_slices(({'pair': PAIRS}, LABELS)).repeat(epochs).batch(20)


def model_fn(features, labels, mode):
    v1 = tf.compat.v1
    table = v1.get_variable('item_vectors', [10, 3], initializer=v1.random_uniform_initializer(-.5, .5, seed=2))
    scale = v1.get_variable('scale', [], initializer=v1.ones_initializer())
    left, right = tf.unstack(tf.nn.embedding_lookup(table, features['pair']), axis=1)
    logits = scale * tf.reduce_sum(left * right, -1)
    predictions = {'similar': tf.sigmoid(logits), 'left': left}
    loss = train_op = metrics = None
    if labels is not None:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
        metrics = {'auc': v1.metrics.auc(labels, predictions['similar'])}
        train_op = v1.train.AdamOptimizer(.05).minimize(loss, v1.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, metrics)


est = tf.estimator.Estimator(model_fn, 'vectors')
est.train(lambda: input_fn(6))
result = est.evaluate(input_fn, steps=2)
path = est.export_saved_model('export', tf.estimator.export.build_parsing_serving_input_receiver_fn(SPEC), experimental_mode='infer')
imported = tf.saved_model.load(os.fsdecode(path))
signature = imported.signatures['serving_default']
example = tf.train.Example(features=tf.train.Features(feature={'pair': tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))})).SerializeToString()
served = signature(examples=tf.constant([example, example]))
reader = tf.train.load_checkpoint(tf.train.latest_checkpoint('vectors'))
table = reader.get_tensor('item_vectors')
print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'served': {k: v.numpy().tolist() for k, v in served.items()}, 'table': table[0].tolist(),
                  'signatures': sorted(imported.signatures), 'listed': sorted(n for n, _ in tf.train.list_variables('vectors'))}))
