"""NFM 和 AFM 两个模型, 同一输入 (TensorFlow 1.13). model = nfm / afm."""
# 使用方法: python nfm_afm.py --model nfm
import json
import sys

import numpy as np
import tensorflow as tf

flags = tf.flags
flags.DEFINE_string("model", "nfm", "模型: nfm, afm")
flags.DEFINE_integer("k", 4, "embedding 维度")
flags.DEFINE_list("dropout", "0.0,0.0", "dropout")
flags.DEFINE_multi_integer("dims", [8, 4], "层")
FLAGS = flags.FLAGS
FIELDS, FEATURES = 5, 50


def make_tsv(path, seed):
    rng = np.random.RandomState(seed)
    with tf.gfile.Open(path, 'w') as f:
        for _ in range(60):
            ids = [10 * i + rng.randint(10) for i in range(FIELDS)]
            f.write('\t'.join([str(int(ids[0] % 10 > ids[1] % 10)), ','.join(map(str, ids))]) + '\n')


def input_fn(path, epochs=1, batch=15):
    def parse(line):
        parts = tf.string_split([line], '\t').values
        ids = tf.string_to_number(tf.string_split([parts[1]], ',').values, tf.int32)
        ids.set_shape([FIELDS])
        return {'ids': ids}, tf.reshape(tf.string_to_number(parts[0]), [1])
    dataset = tf.data.TextLineDataset(path).map(parse).cache().repeat(epochs)
    return dataset.apply(tf.contrib.data.batch_and_drop_remainder(batch))


def body(features, mode):
    ids = features['ids']
    linear = tf.get_variable('linear', [FEATURES, 1], initializer=tf.zeros_initializer())
    bias = tf.get_variable('bias', [1], initializer=tf.zeros_initializer())
    v = tf.get_variable('v', [FEATURES, FLAGS.k], initializer=tf.truncated_normal_initializer(stddev=.3, seed=1))
    e = tf.gather(v, ids)
    first = tf.reduce_sum(tf.gather(linear, ids), 1) + bias
    if FLAGS.model == 'nfm':
        net = 0.5 * (tf.square(tf.reduce_sum(e, 1)) - tf.reduce_sum(tf.square(e), 1))
        net = tf.contrib.layers.batch_norm(net, decay=.8, is_training=mode == tf.estimator.ModeKeys.TRAIN, scope='bi_bn')
        for i, dim in enumerate(FLAGS.dims):
            net = tf.contrib.layers.fully_connected(net, dim, weights_initializer=tf.contrib.layers.xavier_initializer(seed=2 + i))
            net = tf.contrib.layers.dropout(net, keep_prob=1 - float(FLAGS.dropout[i]), is_training=mode == tf.estimator.ModeKeys.TRAIN)
        return first + tf.contrib.layers.linear(net, 1, weights_initializer=tf.contrib.layers.xavier_initializer(seed=8))
    pairs = [e[:, i, :] * e[:, j, :] for i in range(FIELDS) for j in range(i + 1, FIELDS)]
    pairs = tf.stack(pairs, 1)  # B * P * K
    att = tf.layers.dense(pairs, 4, tf.nn.relu, kernel_initializer=tf.glorot_normal_initializer(seed=3), name='att')
    score = tf.layers.dense(att, 1, use_bias=False, kernel_initializer=tf.glorot_normal_initializer(seed=4), name='att_out')
    weight = tf.nn.softmax(score, dim=1)
    return first + tf.layers.dense(tf.reduce_sum(weight * pairs, 1), 1, use_bias=False, kernel_initializer=tf.glorot_normal_initializer(seed=5))


def model_fn(features, labels, mode):
    logits = body(features, mode)
    head = tf.contrib.estimator.binary_classification_head(loss_reduction=tf.losses.Reduction.MEAN)
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=tf.train.AdagradOptimizer(0.1))


def main(argv):
    make_tsv('tr.tsv', 1)
    make_tsv('te.tsv', 2)
    out = {}
    for FLAGS.model in ['nfm', 'afm']:
        est = tf.estimator.Estimator(model_fn, 'model_' + FLAGS.model)
        est.train(lambda: input_fn('tr.tsv', 3))
        metrics = est.evaluate(lambda: input_fn('te.tsv'))
        row = next(est.predict(lambda: input_fn('te.tsv')))
        out[FLAGS.model] = {'metrics': {k: float(v) for k, v in metrics.items()}, 'p': row['probabilities'].tolist(), 'class': row['classes'][0].decode(), 'names': sorted(est.get_variable_names())}
    print(json.dumps(out))


if __name__ == '__main__':
    tf.logging.set_verbosity('ERROR')
    tf.app.run()
