# -*- coding: utf-8 -*-
"""FM 排序, 队列输入 tf.train.shuffle_batch 与 TextLineReader (TensorFlow 1.4)"""
import json
import tensorflow as tf

K, N = 3, 20
with open('fm.txt', 'w') as f:
    for i in range(30):
        f.write('%d,%d,%d,%.1f\n' % (i % 2, i % 7, 7 + (i * 3) % 13, (i % 5) / 2.0))


def input_fn(epochs, shuffle):
    queue = tf.train.string_input_producer(['fm.txt'], num_epochs=epochs, shuffle=False)
    reader = tf.TextLineReader()
    key, value = reader.read(queue)
    label, a, b, x = tf.decode_csv(value, [[0.0], [0], [0], [0.0]])
    ids = tf.stack([a, b])
    if shuffle:
        # 种子相同, 单线程; 结果只看总数
        ids, x, label = tf.train.shuffle_batch([ids, x, label], batch_size=6, capacity=60, min_after_dequeue=12, seed=1, num_threads=1, allow_smaller_final_batch=True)
    else:
        ids, x, label = tf.train.batch([ids, x, label], batch_size=6, num_threads=1, allow_smaller_final_batch=True)
    return {'ids': ids, 'x': x}, label


def model_fn(features, labels, mode):
    w0 = tf.get_variable('w0', [], initializer=tf.zeros_initializer())
    w = tf.get_variable('w', [N], initializer=tf.constant_initializer(0.1))
    v = tf.get_variable('v', [N, K], initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=3))
    e = tf.nn.embedding_lookup(v, features['ids']) * tf.reshape(features['x'] + 0.5, [-1, 1, 1])
    inter = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(e, 1)) - tf.reduce_sum(tf.square(e), 1), 1)
    logit = w0 + tf.reduce_sum(tf.gather(w, features['ids']), 1) + inter
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'p': tf.sigmoid(logit)})
    loss = tf.reduce_mean(tf.log(1 + tf.exp(-(2 * labels - 1) * logit)))
    count = tf.get_variable('count', [], initializer=tf.zeros_initializer(), trainable=False)
    train_op = tf.group(tf.train.FtrlOptimizer(0.1).minimize(loss, tf.train.get_global_step()), tf.assign_add(count, tf.to_float(tf.size(labels))))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={
        'precision': tf.metrics.precision(labels, tf.greater(logit, 0)), 'auc': tf.metrics.auc(labels, tf.sigmoid(logit))})


ordered = tf.estimator.Estimator(model_fn, 'fm_ordered')
ordered.train(lambda: input_fn(3, False))
shuffled = tf.estimator.Estimator(model_fn, 'fm_shuffled')
shuffled.train(lambda: input_fn(2, True))
print(json.dumps({
    'eval': {k: float(v) for k, v in ordered.evaluate(lambda: input_fn(1, False)).items()}, 'count': float(shuffled.get_variable_value('count')),
    'p': [float(r['p']) for r in ordered.predict(lambda: input_fn(1, False))][:6], 'step': int(shuffled.get_variable_value('global_step'))}))
